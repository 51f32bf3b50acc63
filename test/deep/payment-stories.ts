import type { Random } from '../../src/kit/time/clock.js';
import type { Payment, Step } from './payment-messages.js';
import type { Platform, PlatformMessage } from './payment-senders.js';

/** A placed order. */
export interface StoryOrder {
  readonly id: string;
  readonly number: string;
  /** In minor units. */
  readonly amount: number;
  readonly currency: string;
}

/** The final state of a message. */
export type Fate = 'applied' | 'mismatch' | 'ignored' | 'held';

/** The history of an order's payments at the platform, all messages about it, and the expected end of the order. */
export interface Story {
  readonly messages: readonly {
    readonly message: PlatformMessage;
    readonly fate: Fate;
    /** It moves no money, so its order alone keeps it. */
    readonly isSilent: boolean;
  }[];
  /** Messages without which the order ends in the same state. */
  readonly dispensable: readonly PlatformMessage[];
  readonly end: {
    readonly status: string;
    readonly refunded: number;
    /** Whether the grant is held. */
    readonly isGranted: boolean;
  };
}

/** The state of one payment at its platform. */
interface Standing {
  readonly steps: readonly Step[];
  readonly captured: number;
  readonly refunded: number;
  readonly dispute: 'none' | 'open' | 'won' | 'lost';
}

const movesNoMoney: readonly Step['kind'][] = ['pending', 'failed', 'expired', 'canceled'];

const begins = Date.parse('2026-01-02T00:00:00.000Z');
/** Some platforms send whole seconds. */
const stepMs = 60_000;

/**
 * Draws the story of an order from the side of the platform. Its expected end does not depend on the code under test.
 * @param other a platform that the order does not name, and whose messages of a payment all name its order
 */
export function drawStory(
  order: StoryOrder,
  {
    platform,
    other,
    random,
  }: { readonly platform: Platform; readonly other: Platform; readonly random: Random },
): Story {
  const messages: { message: PlatformMessage; fate: Fate; isSilent: boolean }[] = [];
  let minutes = 0;
  const tell = (payment: Payment, step: Step, options: { by?: Platform; fate?: Fate } = {}): void => {
    const { by = platform, fate = step.kind === 'noise' ? 'ignored' : 'applied' } = options;
    minutes += 1;
    const at = new Date(begins + minutes * stepMs);
    for (const message of by.tell(payment, step, at))
      messages.push({ message, fate, isSilent: movesNoMoney.includes(step.kind) });
  };
  const { number: orderNumber, amount, currency } = order;
  const payment = (name: string): Payment => ({
    orderNumber,
    transaction: `${name}${orderNumber}`,
    amount,
    currency,
  });

  const first = drawStanding(amount, { platform, random, name: 'R1' });
  const standings = [first];
  for (const step of first.steps) tell(payment('T1'), step);
  // Some buyers pay twice and may get the second payment back.
  if (first.captured > 0 && random() < 0.08) {
    const second = drawStanding(amount, { platform, random, name: 'R2' });
    standings.push(second);
    for (const step of second.steps) tell(payment('T2'), step);
  }
  if (random() < 0.1 && platform.knows.includes('noise')) tell(payment('T1'), { kind: 'noise' });
  const isShort = random() < 0.04;
  if (isShort) tell({ ...payment('T3'), amount: amount - 1 }, { kind: 'paid' }, { fate: 'mismatch' });
  const isElsewhere = random() < 0.04;
  if (isElsewhere) tell(payment('T4'), { kind: 'paid' }, { by: other, fate: 'mismatch' });
  if (random() < 0.04) {
    tell({ ...payment('T5'), orderNumber: '7NNNNNNNNNNNNNNNNNNNNNNNNN' }, { kind: 'paid' }, { fate: 'held' });
  }
  const dispensable = first.captured > 0 ? tellPending(platform, payment('T1')) : [];
  return { messages, dispensable, end: endOf(standings, { isInReview: isShort || isElsewhere }) };
}

/** Returns messages that do not change a captured payment. */
function tellPending(platform: Platform, payment: Payment): readonly PlatformMessage[] {
  return platform.knows.includes('pending')
    ? platform.tell(payment, { kind: 'pending' }, new Date(begins))
    : [];
}

function drawStanding(
  amount: number,
  { platform, random, name }: { readonly platform: Platform; readonly random: Random; readonly name: string },
): Standing {
  const knows = (kind: Platform['knows'][number]): boolean => platform.knows.includes(kind);
  const steps: Step[] = [];
  if (knows('pending') && random() < 0.4) steps.push({ kind: 'pending' });
  const ends = (['failed', 'expired', 'canceled'] as const).filter(knows);
  const end = ends[Math.floor(random() * ends.length)];
  // The payment may still be captured afterwards.
  if (end !== undefined && random() < 0.2) steps.push({ kind: end });
  if (random() < 0.1) return { steps, captured: 0, refunded: 0, dispute: 'none' };
  steps.push({ kind: 'paid' });
  const refunded = knows('refund') ? drawRefunds(steps, amount, { platform, random, name }) : 0;
  const dispute = knows('dispute') && random() < 0.25 ? drawDispute(steps, random) : 'none';
  return { steps, captured: amount, refunded, dispute };
}

/** @returns the refunded amount at the end */
function drawRefunds(
  steps: Step[],
  amount: number,
  { platform, random, name }: { readonly platform: Platform; readonly random: Random; readonly name: string },
): number {
  const parts = { none: [], part: [0.3], parts: [0.2, 0.3], whole: [1], piecemeal: [0.4, 0.35, 1] };
  const draw = random();
  const chosen =
    draw < 0.45 ? 'none' : draw < 0.55 ? 'part' : draw < 0.65 ? 'parts' : draw < 0.85 ? 'whole' : 'piecemeal';
  let total = 0;
  for (const [index, share] of parts[chosen].entries()) {
    const id = `${name}N${index}X${Math.floor(random() * 1e9)}`;
    const part = Math.min(Math.round(amount * share), amount - total);
    if (platform.knows.includes('failing refund') && random() < 0.2) {
      steps.push({ kind: 'refund', id: `${id}F`, amount: part, total, fails: true });
    }
    total += part;
    steps.push({ kind: 'refund', id, amount: part, total, fails: false });
  }
  return total;
}

function drawDispute(steps: Step[], random: Random): Standing['dispute'] {
  steps.push({ kind: 'dispute', status: 'open' });
  const draw = random();
  if (draw < 0.3) return 'open';
  const status = draw < 0.65 ? 'won' : 'lost';
  steps.push({ kind: 'dispute', status });
  return status;
}

/** Returns the first status that holds: src/areas/payments/README.md#orders. */
function endOf(
  standings: readonly Standing[],
  { isInReview }: { readonly isInReview: boolean },
): Story['end'] {
  const sum = (of: (standing: Standing) => number): number =>
    standings.reduce((total, standing) => total + of(standing), 0);
  const [captured, refunded] = [sum((standing) => standing.captured), sum((standing) => standing.refunded)];
  const isGranted = standings.some(
    (standing) => standing.captured > standing.refunded && standing.dispute !== 'lost',
  );
  const kinds = new Set(standings.flatMap(({ steps }) => steps.map(({ kind }) => kind)));
  const isDisputed = standings.some(({ dispute }) => dispute === 'open' || dispute === 'lost');
  const rules: readonly (readonly [boolean, string])[] = [
    [isInReview, 'review'],
    [captured > 0 && refunded === captured, 'refunded'],
    [captured > 0 && isDisputed, 'disputed'],
    [refunded > 0, 'partially_refunded'],
    [captured > 0, 'fulfilled'],
    [kinds.has('canceled'), 'canceled'],
    [kinds.has('expired'), 'expired'],
    [kinds.has('failed'), 'failed'],
    [kinds.has('pending'), 'pending'],
  ];
  const status = rules.find(([holds]) => holds)?.[1] ?? 'created';
  return { status, refunded, isGranted };
}
