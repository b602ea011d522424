SELECT at, record->>'session', record->>'rule', record->>'reason' FROM ralph_record
WHERE sha256(scope) = sha256('acme') ORDER BY at DESC LIMIT 20;

DELETE FROM ralph_record WHERE at < now() - interval '90 days';
