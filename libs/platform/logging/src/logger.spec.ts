import { execFileSync, spawnSync } from 'node:child_process';

/** The logger writes to the descriptor itself, so a separate process is observed. */
function logged(statement: string): Record<string, unknown> {
  const program = execFileSync('esbuild', ['--bundle', '--platform=node', '--loader=ts'], {
    cwd: __dirname,
    input: `import { createLogger } from './logger'; const log = createLogger('test', 'info'); ${statement}`,
    encoding: 'utf8',
  });
  const { stderr } = spawnSync(process.execPath, ['-'], { input: program, encoding: 'utf8' });
  return JSON.parse(stderr) as Record<string, unknown>;
}

describe('createLogger', () => {
  it('writes one JSON line with service, level and time', () => {
    expect(logged(`log.info({ route: '/x' }, 'done');`)).toMatchObject({
      service: 'test',
      level: 'info',
      route: '/x',
      msg: 'done',
    });
  });

  it('tells the services of one process apart, each by one name', () => {
    const program = execFileSync('esbuild', ['--bundle', '--platform=node', '--loader=ts'], {
      cwd: __dirname,
      input: `import { createLoggers } from './logger'; const logger = createLoggers('info');
              logger('mail').info('one'); logger('gateway').info('two');`,
      encoding: 'utf8',
    });
    const { stderr } = spawnSync(process.execPath, ['-'], { input: program, encoding: 'utf8' });
    expect(stderr.match(/"service":"\w+"/g)).toEqual(['"service":"mail"', '"service":"gateway"']);
  });

  it('redacts credentials, addresses and bodies, one level down as well', () => {
    const line = logged(`log.info({ password: 'p', mail: { to: 'a@b', body: 'text' } }, 'x');`);
    expect(JSON.stringify(line)).not.toMatch(/"p"|a@b|text/);
  });

  it('tells of an error its name, code, message and stack, and nothing that hangs on it', () => {
    const line = logged(
      `log.error({ err: Object.assign(new Error('down'), { code: 'X1', client: { secretKey: 42 } }) }, 'x');`,
    );
    expect(line['err']).toMatchObject({ type: 'Error', message: 'down', code: 'X1' });
    expect(JSON.stringify(line)).not.toContain('42,');
    expect(Object.keys(line['err'] as object).sort()).toEqual(['code', 'message', 'stack', 'type']);
  });
});
