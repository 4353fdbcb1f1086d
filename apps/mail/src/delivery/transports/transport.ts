import type { OnSmtpPhase, RecipientResult, SmtpSubmission } from '@dak/platform/smtp-client';

export type TransportName = 'capture' | 'relay' | 'direct';

/** A way out of the deployment. */
export interface Transport {
  readonly name: TransportName;
  /** Recipients with the same key may share one SMTP transaction. */
  routeOf(recipient: string): string;
  /**
   * Sends to recipients of one route; one result per recipient, in order.
   * @param organizationId Whose mail it is: none may take all connections.
   * @param giveWay Aborted when others wait: recipients not yet sent are deferred soon after.
   */
  send(
    submission: SmtpSubmission,
    onPhase: OnSmtpPhase,
    organizationId: string,
    giveWay?: AbortSignal,
  ): Promise<RecipientResult[]>;
  close(graceMs: number): Promise<void>;
}
