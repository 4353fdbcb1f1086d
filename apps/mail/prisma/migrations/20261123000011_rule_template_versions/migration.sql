-- Rules answer with the version of a template that was there when they were saved: those of before with the
-- one of now.
update rule r
   set actions = (select jsonb_agg(case when a.action ->> 'type' = 'reply_with_template' and t.version is not null
                                        then a.action || jsonb_build_object('template_version', t.version)
                                        else a.action end
                                   order by a.place)
                    from jsonb_array_elements(r.actions) with ordinality a(action, place)
                    left join template t on t.organization_id = r.organization_id
                                        and t.id::text = a.action ->> 'template_id')
 where r.actions @> '[{"type": "reply_with_template"}]';

-- Whoever keeps rules in memory reads them again.
update rule_set set version = version + 1;
