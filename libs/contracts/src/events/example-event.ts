import { eventExamples } from '../api/event-data';
import type { PublicEvent } from './public-event';
import type { EventKind } from './topics';

/** What an event of a kind looks like. */
export function exampleEvent(
  kind: EventKind,
  { id, organizationId, at }: { id: string; organizationId: string; at: Date },
): PublicEvent {
  const timestamp = at.toISOString();
  return {
    id,
    type: kind,
    timestamp,
    api_version: 'v1',
    organization_id: organizationId,
    sequence: 1,
    data: eventExamples(timestamp)[kind],
  };
}
