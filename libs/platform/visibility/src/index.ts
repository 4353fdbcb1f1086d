export {
  findAccess,
  type Place,
  type ReadAccess,
  type Reader,
  type VisibilityClient,
} from './find-access';
