import { clientNetwork } from './client-network';

describe('the network of a client', () => {
  it.each([
    ['192.0.2.77', '192.0.2.77', '192.0.2.0/24'],
    ['::ffff:192.0.2.77', '192.0.2.77', '192.0.2.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['::1', '::/64', '::/48'],
    ['64:ff9b::192.0.2.1', '64:ff9b::/64', '64:ff9b::/48'],
    ['unix', 'unix', 'unix'],
  ])('of %s is %s, in %s', (address, client, network) => {
    expect(clientNetwork(address)).toBe(client);
    expect(clientNetwork(address, 'network')).toBe(network);
  });
});
