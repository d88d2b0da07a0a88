BEGIN TRANSACTION;
CREATE TABLE cart(
  id INTEGER PRIMARY KEY AUTOINCREMENT, serial TEXT, product TEXT, items TEXT, cents INTEGER,
  paid INTEGER NOT NULL DEFAULT 0);
INSERT INTO "cart" VALUES(1,'1122334455667788','1234','[7]',499,1);
CREATE TABLE device(
  serial TEXT PRIMARY KEY, product TEXT, provisioned INTEGER NOT NULL DEFAULT 0, counter INTEGER NOT NULL DEFAULT 0,
  applied INTEGER NOT NULL DEFAULT 0, changed INTEGER NOT NULL DEFAULT 1);
INSERT INTO "device" VALUES('1122334455667788','1234',1,3,3,0);
CREATE TABLE feature(
  product TEXT, id INTEGER, name TEXT, toggleable INTEGER, free INTEGER, PRIMARY KEY(product, id));
INSERT INTO "feature" VALUES('1234',16,'Led',1,0);
INSERT INTO "feature" VALUES('1234',17,'Night mode',1,0);
INSERT INTO "feature" VALUES('1234',18,'Boost',0,0);
INSERT INTO "feature" VALUES('1234',19,'Basic',0,1);
CREATE TABLE firmware(
  product TEXT, code INTEGER, notes TEXT, message TEXT, min_app INTEGER, image BLOB, manifest BLOB, file TEXT,
  PRIMARY KEY(product, code));
CREATE TABLE item(
  id INTEGER PRIMARY KEY, product TEXT, name TEXT, description TEXT, cents INTEGER, image TEXT, thumbnail TEXT,
  features TEXT);
INSERT INTO "item" VALUES(7,'1234','Led','Lights up the device.',499,'','null','[16]');
INSERT INTO "item" VALUES(8,'1234','Everything','All features.',1299,'','null','[16, 17, 18]');
CREATE TABLE owned(serial TEXT, feature INTEGER, PRIMARY KEY(serial, feature));
INSERT INTO "owned" VALUES('1122334455667788',16);
CREATE TABLE payment(
  id INTEGER PRIMARY KEY AUTOINCREMENT, cart INTEGER, key TEXT UNIQUE, status INTEGER, answer TEXT,
  secret TEXT, action TEXT, approval TEXT, steps INTEGER NOT NULL DEFAULT 0);
INSERT INTO "payment" VALUES(1,1,'6324d4f1-cde9-466e-a136-2b889d7364a0',200,'{"status": "succeeded", "paymentId": "p1"}','ps_4d9ddfba738346377f1f19dec7e89e5b','62c6d76509375160','pending',0);
CREATE TABLE product(id TEXT PRIMARY KEY, in_field INTEGER NOT NULL);
INSERT INTO "product" VALUES('1234',1);
CREATE TABLE report(at REAL, serial TEXT, kind TEXT, body TEXT);
INSERT INTO "report" VALUES(1.79599797028020596511e+09,'1122334455667788','feature-update','{"counter": "2", "status": 0}');
INSERT INTO "report" VALUES(1.79599797190387678149e+09,'1122334455667788','feature-update','{"counter": "3", "status": 0}');
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('cart',1);
INSERT INTO "sqlite_sequence" VALUES('payment',1);
COMMIT;
