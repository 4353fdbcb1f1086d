import { replicaCounts } from './replica-counts';

describe('replicaCounts', () => {
  it('takes one of each service unless told otherwise', () => {
    expect(replicaCounts([])).toMatchObject({ gateway: 1, mail: 1 });
    expect(replicaCounts(['--replicas', 'mail=2'])).toMatchObject({ gateway: 1, mail: 2 });
    expect(replicaCounts(['--replicas=mail=3,gateway=2'])).toMatchObject({ gateway: 2, mail: 3 });
  });

  it.each([
    [['--replica', 'mail=2']],
    [['--replicas']],
    [['--replicas', 'mail']],
    [['--replicas', 'mail=0']],
    [['--replicas', 'mail=17']],
    [['--replicas', 'mial=2']],
    [['--replicas', 'mail=2', 'gateway=2']],
  ])('says how it is used when given %j', (args) => {
    expect(() => replicaCounts(args)).toThrow('Usage: npm run start:distributed -- --replicas');
  });
});
