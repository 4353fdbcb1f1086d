export { VARIABLES, type VariableName, type VariableValue } from './catalog';
export { readCompleteConfig, readConfig, type CompleteConfig, type Config } from './read-config';
