// Goal: entities keep the types that their texts tell. Method: bodies, and the types and tokens of what is read.
import { expect, test } from 'vitest';
import { dialectOf } from '../dialect.ts';
import { parseEntity } from './entity-body.ts';

function read(text: string): Record<string, string> {
  const { properties } = parseEntity(text, dialectOf());
  return Object.fromEntries(
    properties.map(({ name, property: { type, token } }) => [name, `${type} ${token}`]),
  );
}

test.each([
  ['5', 'Edm.Int32 5'],
  ['5.0', 'Edm.Double 5.0'],
  [' -5.00 ', 'Edm.Double -5.0'],
  ['1e3', 'Edm.Double 1000.0'],
  ['1.5E1', 'Edm.Double 15.0'],
  ['5.5', 'Edm.Double 5.5'],
  ['"5.0"', 'Edm.String "5.0"'],
  ['"a:1e3"', 'Edm.String "a:1e3"'],
  ['"\\u0041\\n\\ud800"', 'Edm.String "A\\n\\ud800"'],
  ['"ü €"', 'Edm.String "ü €"'],
])('%s is %s', (token, expected) => {
  expect(read(`{"a":${token}}`)).toEqual({ a: expected });
  expect(read(`{"b":7,"a" : ${token},"c":7}`)).toEqual({
    a: expected,
    b: 'Edm.Int32 7',
    c: 'Edm.Int32 7',
  });
});

test('a name that is refused once is refused again', () => {
  for (let time = 0; time < 2; time++) {
    expect(() => parseEntity('{"a b":1}', dialectOf())).toThrow(
      expect.objectContaining({ tableCode: 'PropertyNameInvalid' }),
    );
    expect(() => parseEntity('{"id":1}', dialectOf('localhost'))).toThrow(
      expect.objectContaining({ tableCode: 'PropertyNameInvalid' }),
    );
    // Not by the other service, which has no such names.
    expect(parseEntity('{"id":1}', dialectOf()).properties).toMatchObject([{ name: '$id' }]);
  }
});
