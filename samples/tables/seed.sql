-- What the incident hotline's database holds at the start of a sandbox.

INSERT INTO services (name, description) VALUES
  ('checkout', 'Turns a shopping basket into an order.'),
  ('payments', 'Charges cards and bank accounts, and pays money back.'),
  ('search', 'Finds products by words.'),
  ('identity', 'Signs people in and knows who they are.');

INSERT INTO engineers (name, phone) VALUES
  ('Maya Lindqvist', '+46 8 5550 0101'),
  ('Tomás Herrera', '+34 91 555 0102'),
  ('Priya Raman', '+44 20 5550 0103'),
  ('Jonas Weber', '+49 30 5550 0104');

INSERT INTO on_call (service, engineer_id, since) VALUES
  ('checkout', 1, '2026-03-02T08:00:00Z'),
  ('payments', 2, '2026-03-02T08:00:00Z'),
  ('search', 3, '2026-03-01T20:00:00Z'),
  ('identity', 4, '2026-03-02T08:00:00Z');

SELECT setval('incident_number', 1038);
INSERT INTO incidents (service, severity, title, status, opened_at, updated_at) VALUES
  ('search', 3, 'Search results leave out products added this week', 'resolved', '2026-02-24T13:05:00Z', '2026-02-25T09:40:00Z'),
  ('identity', 1, 'Nobody can sign in with a passkey', 'resolved', '2026-02-27T06:12:00Z', '2026-02-27T07:58:00Z'),
  ('checkout', 2, 'Orders are placed twice when the confirmation page is reloaded', 'investigating', '2026-03-02T09:31:00Z', '2026-03-02T09:47:00Z');
