import { InProcessChannel, ServiceRegistry } from '@dak/platform/grpc';
import {
  combineBackends,
  tenantDirectory,
  type Capabilities,
  type ServiceBackend,
} from './backend';
import { noServices } from './no-services';

type Name = keyof Capabilities;

/** A service that provides some of the gateway's capabilities. */
function service<const Provided extends Name>(
  provided: readonly Provided[],
  serviceLimits: Record<string, number> = {},
): ServiceBackend<Provided> {
  const everything: Capabilities = noServices();
  return {
    tenants: tenantDirectory(new InProcessChannel(new ServiceRegistry())),
    routes: () => [],
    serviceLimits,
    provides: Object.fromEntries(
      provided.map((name) => [name, everything[name]]),
    ) as unknown as Pick<Capabilities, Provided>,
  };
}

const mail = service(
  ['visibleMailboxIds', 'seesMailbox', 'visibility', 'putDomains', 'mailKeeper'],
  { mails: 1 },
);
const webhook = service(['seesWebhook'], { hooks: 2 });
const nothing = service([]);

describe('services behind the gateway', () => {
  it('bring together what each of them provides', () => {
    const all = combineBackends({ mail, nothing, webhook });
    expect(all.tenants).toEqual([mail.tenants, nothing.tenants, webhook.tenants]);
    expect(all.serviceLimits).toEqual({ mails: 1, hooks: 2 });
    expect(all.seesWebhook).toBe(webhook.provides.seesWebhook);
    expect(all.visibility).toBe(mail.provides.visibility);
  });

  it('do not compile while something is provided by none of them', () => {
    // @ts-expect-error Nobody says who sees a webhook.
    expect(combineBackends({ mail, nothing }).seesWebhook).toBeUndefined();
  });

  it('do not compile when something is provided by two of them', () => {
    const other = service(['seesWebhook']);
    // @ts-expect-error Two say who sees a webhook.
    expect(combineBackends({ mail, webhook, other }).tenants).toHaveLength(3);
  });

  it('do not compile when one of them hears of no organizations', () => {
    const deaf = { routes: nothing.routes, serviceLimits: {}, provides: {} };
    // @ts-expect-error It has no tenant directory.
    expect(combineBackends({ mail, webhook, deaf }).tenants).toHaveLength(3);
  });
});
