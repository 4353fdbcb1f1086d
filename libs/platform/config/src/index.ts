export { VARIABLES, type VariableName, type VariableValue } from './catalog';
export { readCompleteConfig, readConfig, type CompleteConfig, type Config } from './read-config';
export {
  BACKENDS,
  ofEachBackend,
  SERVICES,
  serviceVariable,
  serviceVariables,
  type BackendName,
  type ServiceName,
  type ServiceVariable,
} from './services';
