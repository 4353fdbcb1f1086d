/**
 * Key (SQL) of the advisory lock in the mail service's database under which blobs are removed, so that none is while a
 * backup copies them. Whoever removes blobs takes it with `pg_try_advisory_xact_lock` in the transaction that has chosen
 * them and keeps it until their files are gone; when it is not free, a backup runs and the blobs wait. A backup holds it
 * with `pg_advisory_lock_shared` from before its moment until it has copied the last blob; it goes with its connection.
 */
export const BLOB_REMOVAL_LOCK = `hashtext('dak:blob-removal')`;
