import { eventually } from '@dak/testing/waiting';
import { sendMail } from '../stack/sending-mail';
import type { Stack } from '../stack/stack';
import type { Tenant } from '../stack/tenant';

/** Lets a rule answer a mail and look at the mail of the past: what it leaves behind is in every table of rules. */
export async function leaveRuleTraces(
  stack: Stack,
  { client, marker, open }: Tenant,
): Promise<void> {
  const template = await client.post('/templates', {
    name: `${marker} receipt`,
    body_text: `${marker} has your mail.`,
  });
  const rule = await client.post('/rules', {
    name: `${marker} receipt`,
    mailbox_ids: [open.id],
    actions: [{ type: 'reply_with_template', template_id: template.body.id }],
  });
  const dryRun = await client.post('/rules/dry-run', { rule_id: rule.body.id });
  await sendMail(stack.smtpPort, {
    to: [open.address],
    raw: `From: new@${marker}.example\r\nSubject: ${marker} new\r\nMessage-ID: <new@${marker}.example>\r\n\r\nHello.\r\n`,
  });
  let found: unknown;
  const clues = () => `other than ${JSON.stringify(found)}`;
  await eventually(clues, async () => {
    const runs = await client.get(`/rules/${rule.body.id}/runs`);
    const job = await client.get(`/rules/dry-run/${dryRun.body.id}`);
    found = [runs.body, job.body];
    return runs.body.total > 0 && job.body.status === 'done';
  });
}
