export { readPublicKey } from './read-public-key';
export {
  SERVICE_NEEDS,
  SERVICE_VARIABLES,
  startServiceProcess,
  type Service,
  type ServiceParts,
  type ServiceProcessOptions,
} from './service-process';
