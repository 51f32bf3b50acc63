import test from 'ava';
import { startTestService } from '../../support/servers/http-service.js';

const session = 'it opens a session or renews one: a stored reply would hold tokens';
const oneTime = 'what it takes works once, so a repetition is refused and changes nothing';
const sameState = 'a repetition leaves the same state';
const rate = 'each call sends another code, and its limit counts each';
const readsOnly = 'it makes URLs or options and stores no resource';

/** Each POST that takes no `Idempotency-Key`, with the reason. */
const withoutKey: Readonly<Record<string, string>> = {
  login: session,
  refresh: session,
  loginByEmailCode: session,
  loginByPasskey: session,
  passSecondFactor: session,
  logout: sameState,
  sendEmailCode: rate,
  requestEmailChange: rate,
  requestEmailVerification: rate,
  getReauthenticationOptions: readsOnly,
  getPasskeyOptions: readsOnly,
  getPasskeyLoginOptions: readsOnly,
  reauthenticate: sameState,
  changePassword: sameState,
  acceptInvitation: sameState,
  declineInvitation: sameState,
  confirmEmailChange: oneTime,
  revertEmailChange: oneTime,
  confirmEmailVerification: oneTime,
  confirmTotp: oneTime,
  removeTotp: oneTime,
  replaceRecoveryCodes: oneTime,
  testStorage: sameState,
  setStorageCors: sameState,
  chooseDefaultStorage: sameState,
  disableStorage: sameState,
  enableStorage: sameState,
  importAssets: 'a repeated page adds nothing twice',
  issueUploadUrl: readsOnly,
  issueMediaLinks: readsOnly,
  renewShareMedia: readsOnly,
  confirmUpload: sameState,
  completeUpload: sameState,
  cancelOrder: sameState,
  payOrder: 'while the payment can be paid, each call returns it',
  receivePaymentCallback: 'the platform names its callbacks, and each counts once',
  dismissUnmatchedPayments: sameState,
  resolvePayment: sameState,
  recordPayment: 'the same record again is answered with `known`',
  reportNodeCheck: 'a report adds to counters and makes no resource',
};

test('Every POST that creates something takes an Idempotency-Key, and every other one has a reason', async (t) => {
  const { routes } = await startTestService(t);
  const posts = routes.filter(({ method }) => method === 'POST');
  const creating = routes.filter(({ replies }) => 201 in replies);
  t.true(creating.length > 10);
  for (const { name, method, idempotent } of creating) {
    t.is(method, 'POST', name);
    t.not(idempotent, undefined, `${name} answers 201 and takes no Idempotency-Key`);
  }
  const unkeyed = posts.filter(({ idempotent }) => idempotent === undefined);
  t.deepEqual(unkeyed.map(({ name }) => name).sort(), Object.keys(withoutKey).sort());
});
