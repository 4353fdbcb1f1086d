export { descendants, treeMemory, type TreeMemory } from './process-memory';
