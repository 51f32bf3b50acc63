import Koa from 'koa';
import { MongoClient } from 'mongodb';
import { listen } from './anchors.js';

/** Bare Koa that answers with one document of MongoDB: what a service on this database can reach at best. */
const [url = ''] = process.argv.slice(2);
const client = await new MongoClient(url, { maxPoolSize: 20 }).connect();
const documents = client.db().collection<{ _id: string; body: object }>('anchor');
await documents.insertOne({ _id: 'one', body: { name: 'x'.repeat(400) } });
const app = new Koa();
app.use(async (ctx) => {
  ctx.body = (await documents.findOne({ _id: 'one' }))?.body;
});
process.send?.(await listen(app));
process.on('disconnect', () => process.exit(0));
