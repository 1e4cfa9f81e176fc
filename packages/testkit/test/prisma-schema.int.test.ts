import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testDatabase } from '../src/database.ts';
import type { TestDatabase } from '../src/database.ts';
import { expectPrismaMatchesDatabase, prismaDifferences } from '../src/prisma-schema.ts';

const directory = mkdtempSync(join(tmpdir(), 'quittance-prisma-'));
let database: TestDatabase;
beforeAll(async () => {
  mkdirSync(join(directory, 'migrations'));
  writeFileSync(
    join(directory, 'migrations', '0001_shop.sql'),
    `create table shop (
       shop_id uuid primary key, name text, opened_at timestamptz(3) not null, tags text[] not null,
       units numeric(78) not null, slot text, city text not null, unique (city, name)
     );
     create unique index on shop (slot) where slot <> '';
     create table unmodelled (id int);`,
  );
  database = await testDatabase({
    schema: 'shops',
    migrations: [{ directory, ledger: 'migrations', version: '0.1.0' }],
  });
});
afterAll(async () => {
  await database.drop();
  rmSync(directory, { recursive: true });
});

function comparison(model: string) {
  const schemaFile = join(directory, 'schema.prisma');
  writeFileSync(schemaFile, model);
  return { schemaFile, url: database.url, schema: 'shops' };
}

test('a schema that describes its tables passes, whatever names Prisma uses', async () => {
  const model = `
model Owner {
  id Int @id

  @@map("unmodelled")
}

model Shop {
  shopId   String   @id @map("shop_id") @db.Uuid // the key
  name     String?
  openedAt DateTime @map("opened_at") @db.Timestamptz(3)
  tags     String[]
  units    Decimal  @db.Decimal(78, 0)
  slot     String?
  city     String

  @@unique([city, name])
  @@map("shop")
}
`;
  expect(await prismaDifferences(comparison(model))).toEqual([
    'unmodelled.id: required in schema.prisma, optional in the database',
    'unmodelled: the database has no unique key (id)',
  ]);
  await expectPrismaMatchesDatabase(comparison(model.slice(model.indexOf('model Shop'))));
});

test('every kind of difference is reported', async () => {
  const model = `
model Shop {
  shop_id   Int      @id
  name      String
  opened_at DateTime
  tags      String
  slot      String?  @unique
  city      String
  country   String?
  gone      Gone[]

  @@map("shop")
}

model Gone {
  id   Int  @id
  shop Shop @relation(fields: [id], references: [shop_id])
}
`;
  await expect(expectPrismaMatchesDatabase(comparison(model))).rejects.toThrow(
    [
      'schema.prisma and schema "shops" differ:',
      'shop.shop_id: int4 in schema.prisma, uuid in the database',
      'shop.name: required in schema.prisma, optional in the database',
      'shop.opened_at: timestamp in schema.prisma, timestamptz in the database',
      'shop.tags: text in schema.prisma, text[] in the database',
      'shop.country: only in schema.prisma',
      'shop.units: only in the database',
      'shop: the database has no unique key (slot)',
      'Gone: the database has no such table',
    ].join('\n'),
  );
});

test('a type that the check does not know is an error, not a pass', async () => {
  const model = 'model Shop {\n  shop_id String @id @db.Oid\n\n  @@map("shop")\n}\n';
  await expect(prismaDifferences(comparison(model))).rejects.toThrow('Shop.shop_id: type @db.Oid is not known here');
});
