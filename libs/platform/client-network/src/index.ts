export { clientNetwork } from './client-network';
