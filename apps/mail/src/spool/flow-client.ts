/** Separates a flow's client from the rest of its name. */
export const FLOW_SEPARATOR = '|';

/** The client that a flow comes from. */
export function clientOf(flow: string): string {
  return flow.split(FLOW_SEPARATOR, 1)[0]!;
}
