// Tells the story to a service in a data directory until the process is killed: `node tell.js <directory>`. Prints the head of the
// log before each request, and `told` at the end of the story.
import { openStory } from './open-story.js';

const [directory = ''] = process.argv.slice(2);
const { service, tell } = await openStory(directory, printHead);
await tell();
await printHead();
console.log('told');

async function printHead(): Promise<void> {
  console.log(`head ${await service.services.eventStore.head()}`);
}
