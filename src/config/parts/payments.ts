import { listProblems } from '../../validation/field-problems.js';
import { fieldProblems } from '../../validation/zod-problems.js';
import { builtInPlans, type Plan, plans as plansSchema } from '../../areas/payments/domain/order/plans.js';
import {
  keyDirectoryProblems,
  paymentSecretNames,
  readPaymentSettings,
} from '../../areas/payments/platforms/configured.js';
import { collect, ConfigProblem, type Environment, readJson, readSecret } from '../sources.js';

/** Reads the plans: `PLANS_FILE`, or the built-in ones. @throws ConfigProblem */
export function readPlans(file: string | undefined): readonly Plan[] {
  if (file === undefined) return builtInPlans;
  const given = readJson('PLANS_FILE', file);
  const parsed = plansSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new ConfigProblem(
    `PLANS_FILE ${file} must be [{"id", "name", "prices": {"USD": 999}, "grants": {"capacity_bytes": n} or ` +
      `{"entitlement": "allow_s3"}}, …]: ${listProblems(fieldProblems(plansSchema, given))}`,
  );
}

/** Reads the payment variables and their problems. @throws ConfigProblem when a named file cannot be read */
export function readPayments(environment: Environment): ReturnType<typeof readPaymentSettings> {
  return readPaymentSettings((name) =>
    paymentSecretNames.includes(name) ? readSecret(environment, name) : environment[name],
  );
}

/** Returns the problems of the payment variables and of the directories of keys that they name, one sentence each. */
export function paymentProblems(environment: Environment): readonly string[] {
  // `readConfig` already reports secrets that cannot be read.
  const payments = collect([], () => readPayments(environment));
  if (payments === undefined) return [];
  return [...payments.problems, ...keyDirectoryProblems(payments.settings)];
}
