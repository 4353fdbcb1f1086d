import type { Bootstrap } from './bootstrap';

/** What a person sees after the start: where everything is, and one thing to copy for each. */
export function banner(bootstrap: Bootstrap, file: string, transport: string): string {
  const { base_url: api, site_url: site, smtp, lmtp, admin, mailboxes } = bootstrap;
  const mailbox = mailboxes[0];
  const lines = [
    '',
    '  Dak is running.',
    '',
    `  API        ${api}`,
    `  Documents  ${site}/docs`,
    `  SMTP       ${smtp.host}:${smtp.port}`,
    `  LMTP       ${lmtp.host}:${lmtp.port}`,
    `  Outgoing   ${transport === 'capture' ? 'captured: nothing leaves this machine' : transport.replace(/\/\/[^@/]*@/, '//')}`,
    `  Sign in    ${admin.email}, password in ${file}`,
    '',
    '  Try it:',
    '',
    `    export KEY=$(node -p "require('${file}').api_key")`,
    `    curl -H "Authorization: Bearer $KEY" ${api}/`,
  ];
  if (mailbox !== undefined) {
    lines.push(
      '',
      `    printf 'From: Ada <ada@example.org>\\r\\nTo: ${mailbox.address}\\r\\nSubject: Hello\\r\\n\\r\\nIs anybody there?\\r\\n' > hello.eml`,
      `    curl smtp://${smtp.host}:${smtp.port} --mail-from ada@example.org --mail-rcpt ${mailbox.address} --upload-file hello.eml`,
      `    curl -H "Authorization: Bearer $KEY" ${api}/conversations`,
    );
  }
  return `${lines.join('\n')}\n\n`;
}
