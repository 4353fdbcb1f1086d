import { OperationLinks } from './openapi-links';

const ID = { type: 'string', format: 'uuid' };
const links = new OperationLinks([
  { method: 'GET', path: '/boxes' },
  { method: 'GET', path: '/boxes/{id}' },
  { method: 'DELETE', path: '/boxes/{id}' },
  { method: 'GET', path: '/boxes/{id}/letters' },
  { method: 'POST', path: '/boxes/{id}/seal' },
  { method: 'GET', path: '/boxes/{id}/letters/{lid}' },
  { method: 'GET', path: '/imports/{id}' },
]);
const fromBody = (path: string, properties: Record<string, object>) =>
  links.from({ method: 'POST', path }, { properties }, '');

describe('links between operations', () => {
  it('go from a new record to what is done with it and the lists below it', () => {
    const id = '$response.body#/id';
    expect(fromBody('/boxes', { id: ID })).toEqual(
      Object.fromEntries(
        ['get_boxes_id', 'delete_boxes_id', 'get_boxes_id_letters'].map((operationId) => [
          operationId,
          { operationId, parameters: { id } },
        ]),
      ),
    );
    expect(Object.keys(fromBody('/boxes/{id}/imports', { id: ID }))).toEqual(['get_imports_id']);
  });

  it('go from the first of a list, with the parameters of the request above it', () => {
    const found = links.from(
      { method: 'GET', path: '/boxes/{id}/letters' },
      { properties: { id: ID, box_id: ID } },
      '/data/0',
    );
    expect(found['get_boxes_id_letters_lid']!['parameters']).toEqual({
      id: '$request.path.id',
      lid: '$response.body#/data/0/id',
    });
    expect(found['get_boxes_id']!['parameters']).toEqual({ id: '$response.body#/data/0/box_id' });
  });

  it('are made for no member that can be null or is not there', () => {
    expect(fromBody('/boxes', { name: ID })).toEqual({});
    expect(fromBody('/letters', { box_id: { type: ['string', 'null'] } })).toEqual({});
  });
});
