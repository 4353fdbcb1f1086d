import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { removeDataDir, startDak, temporaryDataDir } from '../stack/running-dak';

const ROOT = resolve(__dirname, '../..');
const ALERTS = join(ROOT, 'deploy/alerts');
const names = readdirSync(ALERTS);
const rules = names.filter((name) => name.endsWith('.rules.yaml'));
const ruleText = rules.map((name) => readFileSync(join(ALERTS, name), 'utf8')).join('\n');
const promtool = spawnSync('promtool', ['--version']);
const isThere = promtool.error === undefined;

/** In CI the Debian package `prometheus` is there. */
function itWithPromtool(title: string, test: () => void): void {
  if (isThere || process.env['CI'] !== undefined) it(title, test);
  // Left out aloud.
  else it.skip(title, test);
}

function check(args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: ALERTS, encoding: 'utf8' });
  expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: expect.any(String) });
}

/** Metrics of `/metrics`: those of a process that has everything. */
async function offered(): Promise<string> {
  const dataDir = temporaryDataDir();
  const dak = await startDak(dataDir);
  try {
    await dak.api('GET', '/mailboxes');
    const { metrics_url: url } = dak.bootstrap as unknown as { metrics_url: string };
    return await (await fetch(url)).text();
  } finally {
    await dak.stop();
    removeDataDir(dataDir);
  }
}

describe('the alert rules', () => {
  itWithPromtool('are rules of Prometheus', () => check(['check', 'rules', ...rules]));

  itWithPromtool('fire when they should, and only then', () =>
    check(['test', 'rules', ...names.filter((name) => name.endsWith('.test.yaml'))]),
  );

  it('each have a severity, a summary and a runbook that exists', () => {
    const alerts = ruleText.split(/^ +- alert: /m).slice(1);
    expect(alerts.length).toBeGreaterThan(8);
    for (const alert of alerts) {
      expect(alert).toMatch(/^ +severity: (page|ticket)$/m);
      expect(alert).toMatch(/^ +summary: \S/m);
      const runbook = /runbook_url: '?(docs\/runbooks\/[a-z-]+\.md)/.exec(alert)?.[1];
      expect(existsSync(join(ROOT, runbook ?? 'none'))).toBe(true);
    }
  });

  it('name metrics that there are, and the documents name all that there are', async () => {
    const text = await offered();
    const there = new Set([...text.matchAll(/^# TYPE (dak_\w+) /gm)].map((match) => match[1]!));
    const expressions = [...ruleText.matchAll(/expr: (.*(?:\n {10,}.*)*)/g)].map(
      ([, expr]) => expr,
    );
    const named = new Set(expressions.join('\n').match(/\bdak_\w+/g));
    expect(named.size).toBeGreaterThan(8);
    expect([...named].filter((name) => !there.has(name))).toEqual([]);
    const documents = readFileSync(join(ROOT, 'docs/operating.md'), 'utf8');
    const section = documents.slice(
      documents.indexOf('### Metrics'),
      documents.indexOf('## Variables'),
    );
    const documented = new Set([...section.matchAll(/^\| `(dak_\w+)/gm)].map((match) => match[1]!));
    expect([...there].filter((name) => !documented.has(name)).sort()).toEqual([]);
    expect([...documented].filter((name) => !there.has(name)).sort()).toEqual([]);
  }, 90_000);
});
