import test from 'ava';
import { testHistories } from '../support/simulation/campaigns.js';
import { simulateInvitations } from '../support/simulation/reactions/simulate-invitations.js';

testHistories(test, 'Exactly the invited users who prove their address become members, in every order', {
  ...{ seed: 20_260_102, histories: 2_000, run: simulateInvitations },
  hasMet: ({ accepted }, histories) => accepted > histories / 10,
});
