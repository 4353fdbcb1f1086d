export { eventually } from './eventually';
