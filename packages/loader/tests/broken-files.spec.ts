import { describe, expect, it } from 'vitest'
import { type Broken, expectRefusal, entryKeys, plugins } from './refusal.ts'
import { refusal } from './support.ts'

const notYaml: Broken[] = [
  {
    is: 'an unclosed mapping',
    yml: '- name: ./quiet.mjs\n  config: { a: 1\n- name: ./quiet.mjs\n',
    lines: ['cordis.yml:3:1: invalid YAML: flow map in block collection must be sufficiently indented and end with a }'],
  },
  {
    is: 'an unquoted scope',
    yml: '- name: @offshoot/tools\n',
    lines: ['cordis.yml:1:9: invalid YAML: plain value cannot start with reserved character @; put the value in quotes'],
  },
  {
    is: 'a tab for indentation',
    yml: '- name: ./quiet.mjs\n\tconfig: 1\n',
    lines: ['cordis.yml:2:2: invalid YAML: unexpected scalar at node end; indent with spaces, not tabs'],
  },
  {
    is: 'a key twice',
    yml: '- name: ./quiet.mjs\n  name: ./quiet.mjs\n',
    lines: ['cordis.yml:2:3: invalid YAML: map keys must be unique'],
  },
  {
    is: 'another tag than !!js',
    yml: '- name: !env NAME\n',
    lines: ['cordis.yml:1:9: invalid YAML: unresolved tag: !env; the only tag is !!js, before an expression'],
  },
  {
    is: 'an alias of nothing',
    yml: '- name: *missing\n',
    lines: ['cordis.yml:1:9: invalid YAML: there is no anchor &missing before *missing'],
  },
  {
    is: 'a second document',
    yml: '- name: ./quiet.mjs\n---\n- name: ./quiet.mjs\n',
    lines: ['cordis.yml:2:1: invalid YAML: a second document starts here; a config file holds one list'],
  },
]

const misshapen: Broken[] = [
  {
    is: 'no list',
    yml: 'plugins:\n  a: {}\n',
    lines: ['cordis.yml:1:1: expected a list of entries ("- name: …"), not a mapping'],
  },
  {
    is: 'an entry that is no mapping',
    yml: '- ./quiet.mjs\n- - name: ./quiet.mjs\n',
    lines: [
      'cordis.yml:1:3: an entry is a mapping with a "name" ("- name: …"), not the string "./quiet.mjs"',
      'cordis.yml:2:3: an entry is a mapping with a "name" ("- name: …"), not a list',
    ],
  },
  {
    is: 'unknown entry keys',
    yml: '- name: ./tool.mjs\n  confg: { provider: spawn }\n- nmae: ./quiet.mjs\n  zzz: 1\n',
    lines: [
      `cordis.yml:2:3: unknown entry key "confg"; did you mean "config"? ${entryKeys}`,
      `cordis.yml:3:3: unknown entry key "nmae"; did you mean "name"? ${entryKeys}`,
      `cordis.yml:4:3: unknown entry key "zzz" ${entryKeys}`,
    ],
  },
  {
    is: 'entries without a name',
    yml: '- id: a\n- name: " "\n- name:\n- name: 3\n',
    lines: [
      'cordis.yml:1:3: an entry needs a "name": a package name, or a path that starts with "./"',
      'cordis.yml:2:9: "name" of an entry must be a package name, or a path that starts with "./", not the string " "',
      'cordis.yml:3:8: "name" of an entry must be a package name, or a path that starts with "./", not nothing',
      'cordis.yml:4:9: "name" of an entry must be a package name, or a path that starts with "./", not the number 3',
    ],
  },
  {
    is: 'an id twice',
    yml: '- id: a\n  name: ./quiet.mjs\n- name: ./quiet.mjs\n- id: a\n  name: ./tool.mjs\n  config: { provider: spawn }\n',
    lines: ['cordis.yml:4:3: entry "a" (./tool.mjs): its id is already taken by entry "a" (./quiet.mjs) at cordis.yml:1:3; give one of the two another id'],
  },
  {
    is: 'values of the wrong kind',
    yml: '- name: ./quiet.mjs\n  group: "no"\n  disabled: "no"\n  inject: 3\n  isolate: { a: 3 }\n  intercept: [a]\n',
    lines: [
      'cordis.yml:2:10: "group" of an entry must be true or false, not the string "no"',
      'cordis.yml:3:13: "disabled" of an entry must be true, false or a !!js expression, not the string "no"',
      'cordis.yml:4:11: "inject" of an entry must be a list of service names, not the number 3',
      'cordis.yml:5:12: "isolate" of an entry must be a mapping from service names to true or a label, not a mapping',
      'cordis.yml:6:14: "intercept" of an entry must be a mapping from service names to their config, not a list',
    ],
  },
  {
    is: 'an expression where none is evaluated',
    yml: '- name: !!js process.env.PLUGIN\n- name: ./quiet.mjs\n  intercept: { logger: { level: !!js 1 + 2 } }\n',
    lines: [
      'cordis.yml:1:14: "name" of an entry is taken as written; !!js works in "config" and "disabled" only',
      'cordis.yml:3:14: "intercept" of an entry is taken as written; !!js works in "config" and "disabled" only',
    ],
  },
  {
    is: 'a group without a list',
    yml: '- name: group\n  group: true\n  config: { name: ./quiet.mjs }\n',
    lines: ['cordis.yml:3:11: expected a list of entries ("- name: …"), not a mapping'],
  },
]

const nested: Broken[] = [
  {
    is: 'entries of groups',
    yml: '- name: group\n  group: true\n  config:\n    - name: ./nope.mjs\n    - name: group\n      group: true\n      config:\n        - id: deep\n          name: ./tool.mjs\n- name: group\n  group: true\n  inject: [engine]\n  config:\n    - name: ./user.mjs\n',
    files: { 'user.mjs': 'export const inject = ["wheels"]\nexport function apply() {}' },
    lines: [
      'cordis.yml:4:7: entry "./nope.mjs" (./nope.mjs): there is no file "./nope.mjs"; paths are relative to the config file',
      'cordis.yml:8:11: entry "deep" (./tool.mjs): missing config key "provider"; expected string',
      'cordis.yml:10:3: entry "group#3" (group): waits for service "engine": no loaded plugin provides it',
    ],
  },
  {
    is: 'entries in JSON notation',
    yml: '[\n\t{ "name": "./quiet.mjs" },\n\t{ "id": "x", "name": "./tool.mjs", "config": { "provider": 1 } }\n]\n',
    lines: ['cordis.yml:3:2: entry "x" (./tool.mjs): config key "provider": expected string but got 1'],
  },
]

describe('a config that is not YAML is refused for', () => {
  it.each(notYaml)('$is', async (broken) => { await expectRefusal(broken) })
})

describe('a config of the wrong shape is refused for', () => {
  it.each(misshapen)('$is', async (broken) => { await expectRefusal(broken) })
})

describe('a config that nests is refused for', () => {
  it.each(nested)('$is', async (broken) => { await expectRefusal(broken) })
})

it('collects what is wrong from every stage, each once, in the order of the file', async () => {
  const lines = await refusal({
    'cordis.yml': '- name: ./waits.mjs\n- name: ./throws.mjs\n- name: ./tool.mjs\n  confg: { provider: a }\n- name: ./missing.mjs\n- name: ./tool.mjs\n  config: { provider: a, x: 1 }\n- ./text\n',
    ...plugins,
    'throws.mjs': 'export function apply() { throw new Error("broke") }',
    'waits.mjs': 'export const inject = ["engine"]\nexport function apply() {}',
  })
  expect(lines).toEqual([
    'cordis.yml:1:3: entry "./waits.mjs" (./waits.mjs): waits for service "engine": no loaded plugin provides it',
    'cordis.yml:2:3: entry "./throws.mjs" (./throws.mjs): broke',
    `cordis.yml:4:3: unknown entry key "confg"; did you mean "config"? ${entryKeys}`,
    'cordis.yml:5:3: entry "./missing.mjs" (./missing.mjs): there is no file "./missing.mjs"; paths are relative to the config file',
    'cordis.yml:6:3: entry "./tool.mjs#2" (./tool.mjs): unknown config key "x" (keys: headers, maxDepth, mode, provider, secret, steps, toolFilter, toolName)',
    'cordis.yml:8:3: an entry is a mapping with a "name" ("- name: …"), not the string "./text"',
  ])
})
