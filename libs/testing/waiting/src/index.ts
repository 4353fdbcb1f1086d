export { eventually } from './eventually';
export { slowPeer, timePasses } from './passing-time';
