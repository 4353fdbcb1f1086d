export { VARIABLES, type VariableName, type VariableValue } from './catalog';
export { readConfig, type Config } from './read-config';
