/** The order of open requests, wherever they are listed: cards, Review all, quick pick. */
import type * as wire from './wire.gen.ts';

/** Calls of one message keep its order, also when one of them is asked about again. Stable for what came at once. */
export function inOrder(one: wire.ApprovalRequest, other: wire.ApprovalRequest): number {
  const [first, second] = [one.firstAskedAt ?? one.createdAt, other.firstAskedAt ?? other.createdAt];
  return first < second ? -1 : first > second ? 1 : 0;
}
