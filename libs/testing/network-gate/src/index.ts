export { openNetworkGate, type NetworkGate } from './network-gate';
