export * from '../generated/dak/tenant/v1/tenant_directory_service';
