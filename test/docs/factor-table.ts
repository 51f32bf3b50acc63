import {
  type AccountFactors,
  type GuardedAction,
  guardedActions,
  type Need,
  needOf,
  noFactors,
} from '../../src/areas/accounts/domain/guard.js';

const words: Readonly<Record<GuardedAction, string>> = {
  begin: 'read the own account, pass a factor, sign out here',
  reauthenticate: 'reauthenticate',
  use: 'every other call, for example to revoke a key or a session',
  enter_guarded_project: 'a call on a project with `require_2fa`',
  add_totp: 'add TOTP',
  add_passkey: 'add a passkey',
  remove_totp: 'remove TOTP (code in the body)',
  remove_passkey: 'remove a passkey',
  replace_recovery_codes: 'replace the recovery codes (code in the body)',
  issue_api_key: 'issue an API key',
  set_require_2fa: '`require_2fa: true`',
  unset_require_2fa: '`require_2fa: false`',
  change_password: 'change the password',
  change_address: 'change the address',
  delete_account: 'delete the account',
  accept_invitation: 'accept an invitation or offer',
  change_owners: 'add, change or remove an owner',
  offer_billing: 'offer the billing',
  allow_open_shares: '`open_shares: true`',
  change_members: 'change other members',
  change_storages: 'change storages',
  delete_project: 'delete a project',
  operate: 'operators: every call',
  decide_on_payments: 'operators: decide on payments',
  audit: 'auditors: every call, and to read a project as an auditor',
};

const columns: readonly (readonly [string, AccountFactors])[] = [
  ['none', noFactors],
  ['TOTP', { ...noFactors, totp: true }],
  ['passkey', { ...noFactors, passkey: true }],
  ['both', { ...noFactors, totp: true, passkey: true }],
];

function cellOf(need: Need, { passkey }: AccountFactors): string {
  switch (need.kind) {
    case 'nothing':
      return 'free';
    case 'fresh-sign-in':
      return 'sign-in, 15 min';
    case 'a-factor':
      return 'refused';
    case 'passed':
    case 'fresh': {
      const ways = need.factor === 'passkey' ? 'passkey' : passkey ? 'TOTP or passkey' : 'TOTP';
      return need.kind === 'fresh' ? `${ways}, 15 min` : ways;
    }
  }
}

/** The table of what each action needs of a session: a row for actions with equal needs. */
export function factorRows(): readonly string[][] {
  const rows = new Map<string, { readonly actions: string[]; readonly cells: string[] }>();
  for (const action of guardedActions) {
    const cells = columns.map(([, account]) => cellOf(needOf(action, account), account));
    const row = rows.get(cells.join('|')) ?? { actions: [], cells };
    row.actions.push(words[action]);
    rows.set(cells.join('|'), row);
  }
  return [...rows.values()].map(({ actions, cells }) => [actions.join('; '), ...cells]);
}

export const factorHead = ['action', ...columns.map(([name]) => name)];
