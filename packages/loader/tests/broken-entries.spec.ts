import { describe, expect, it } from 'vitest'
import { type Broken, expectRefusal } from './refusal.ts'

const unusable: Broken[] = [
  {
    is: 'a package that is not installed',
    yml: '- name: \'@offshoot/toolz\'\n- name: \'@offshot/tools\'\n- name: \'@offshoot/nothing-like-it\'\n- name: schematsery/sub\n',
    lines: [
      'cordis.yml:1:3: entry "@offshoot/toolz" (@offshoot/toolz): package "@offshoot/toolz" is not installed; did you mean "@offshoot/tools"?',
      'cordis.yml:2:3: entry "@offshot/tools" (@offshot/tools): package "@offshot/tools" is not installed; did you mean "@offshoot/tools"?',
      'cordis.yml:3:3: entry "@offshoot/nothing-like-it" (@offshoot/nothing-like-it): package "@offshoot/nothing-like-it" is not installed; install it in the folder of the config file, or name a local file as "./…"',
      'cordis.yml:4:3: entry "schematsery/sub" (schematsery/sub): package "schematsery" is not installed; did you mean "schemastery"?',
    ],
  },
  {
    is: 'a package without its scope, and a file without its path',
    yml: '- name: tools\n- name: quiet.mjs\n',
    lines: [
      'cordis.yml:1:3: entry "tools" (tools): package "tools" is not installed; did you mean "@offshoot/tools"?',
      'cordis.yml:2:3: entry "quiet.mjs" (quiet.mjs): package "quiet.mjs" is not installed; did you mean "./quiet.mjs"?',
    ],
  },
  {
    is: 'a file that is not there',
    yml: '- name: ./quite.mjs\n- name: ./quiet\n- name: ./nothing/here.mjs\n- name: ./plugins\n',
    files: { 'plugins/index.mjs': '' },
    lines: [
      'cordis.yml:1:3: entry "./quite.mjs" (./quite.mjs): there is no file "./quite.mjs"; did you mean "./quiet.mjs"?',
      'cordis.yml:2:3: entry "./quiet" (./quiet): there is no file "./quiet"; did you mean "./quiet.mjs"?',
      'cordis.yml:3:3: entry "./nothing/here.mjs" (./nothing/here.mjs): there is no file "./nothing/here.mjs"; paths are relative to the config file',
      'cordis.yml:4:3: entry "./plugins" (./plugins): "./plugins" is a folder; name a file in it, as in "./plugins/index.mjs"',
    ],
  },
  {
    is: 'a path that its package does not export, and a module of Node',
    yml: '- name: cordis/nope\n- name: node:os\n',
    lines: [
      'cordis.yml:1:3: entry "cordis/nope" (cordis/nope): "cordis/nope" is not among the exports of its package',
      expect.stringContaining('cordis.yml:2:3: entry "node:os" (node:os): is not a plugin: it exports "') as string,
    ],
  },
  {
    is: 'a module that throws',
    yml: '- name: ./throws.mjs\n- name: ./null.mjs\n',
    files: { 'throws.mjs': 'throw new Error("no engine here\\nand more")', 'null.mjs': 'null.length' },
    lines: [
      'cordis.yml:1:3: entry "./throws.mjs" (./throws.mjs): cannot be imported: no engine here',
      'cordis.yml:2:3: entry "./null.mjs" (./null.mjs): cannot be imported: TypeError: Cannot read properties of null (reading \'length\')',
    ],
  },
  {
    is: 'a module that is no plugin',
    yml: '- name: ./helpers.mjs\n- name: ./empty.mjs\n- name: ./stray.mjs\n- name: ./hidden.mjs\n',
    files: {
      'helpers.mjs': 'export const one = 1, two = 2',
      'empty.mjs': '',
      'stray.mjs': 'export const inject = ["a"]\nexport function apply() {}\nexport default apply',
      'hidden.mjs': 'export function apply() {}\nexport default {}',
    },
    lines: [
      'cordis.yml:1:3: entry "./helpers.mjs" (./helpers.mjs): is not a plugin: it exports "one" and "two"; a plugin exports "apply", or a class as default',
      'cordis.yml:2:3: entry "./empty.mjs" (./empty.mjs): is not a plugin: it exports nothing; a plugin exports "apply", or a class as default',
      'cordis.yml:3:3: entry "./stray.mjs" (./stray.mjs): has a default export, which hides its exports "apply", "inject" and "Config"; remove the default export',
      'cordis.yml:4:3: entry "./hidden.mjs" (./hidden.mjs): has a default export, which hides its exports "apply", "inject" and "Config"; remove the default export',
    ],
  },
]

const misconfigured: Broken[] = [
  {
    is: 'a missing required key',
    yml: '- id: research\n  name: ./tool.mjs\n- name: ./tool.mjs\n  config: { headers: { a: {} } }\n',
    lines: [
      'cordis.yml:1:3: entry "research" (./tool.mjs): missing config key "provider"; expected string',
      'cordis.yml:3:3: entry "./tool.mjs" (./tool.mjs): missing config key "provider"; expected string',
      'cordis.yml:3:3: entry "./tool.mjs" (./tool.mjs): missing config key "headers.a.value"; expected string',
    ],
  },
  {
    is: 'values of the wrong type, all of them',
    yml: '- name: ./tool.mjs\n  config:\n    provider: 1\n    maxDepth: "3"\n    mode: medium\n    toolFilter: { allow: all }\n    steps: [{ count: 1 }, { count: x }]\n    secret: 12345\n- name: ./tool.mjs\n  config: spawn\n',
    lines: [
      'provider": expected string but got 1',
      'maxDepth": expected number but got "3"',
      'secret": expected string but got another number',
      'mode": expected "fast" | "slow" but got "medium"',
      'toolFilter.allow": expected array but got "all"',
      'steps[1].count": expected number but got "x"',
    ].map(text => `cordis.yml:1:3: entry "./tool.mjs" (./tool.mjs): config key "${text}`)
      .concat('cordis.yml:9:3: entry "./tool.mjs#2" (./tool.mjs): config: expected object but got "spawn"'),
  },
  {
    is: 'unknown keys, at any depth',
    yml: '- name: ./tool.mjs\n  config:\n    provider: spawn\n    toolname: a\n    toolFilter: { alow: [a] }\n    steps: [{ lable: a }]\n    headers: { any: { value: a, zzzz: b } }\n',
    lines: [
      'toolname"; did you mean "toolName"? (keys: headers, maxDepth, mode, provider, secret, steps, toolFilter, toolName)',
      'toolFilter.alow"; did you mean "allow"? (keys: allow, deny)',
      'headers.any.zzzz" (keys: value)',
      'steps[0].lable"; did you mean "label"? (keys: count, label)',
    ].map(text => `cordis.yml:1:3: entry "./tool.mjs" (./tool.mjs): unknown config key "${text}`),
  },
  {
    is: 'a required key misspelt, as one mistake',
    yml: '- name: ./tool.mjs\n  config: { provdier: spawn }\n',
    lines: ['cordis.yml:1:3: entry "./tool.mjs" (./tool.mjs): unknown config key "provdier"; did you mean "provider"? (keys: headers, maxDepth, mode, provider, secret, steps, toolFilter, toolName)'],
  },
  {
    is: 'a key of another variant',
    yml: '- name: ./tagged.mjs\n  config: { kind: http, command: ls }\n',
    lines: ['cordis.yml:1:3: entry "./tagged.mjs" (./tagged.mjs): unknown config key "command" (keys: kind, url)'],
  },
  {
    is: 'an expression that throws',
    yml: '- name: ./quiet.mjs\n  disabled: !!js nothing.there\n  config: { a: [!!js missing()], b: { c: !!js "1 +" } }\n',
    lines: [
      'cordis.yml:1:3: entry "./quiet.mjs" (./quiet.mjs): disabled: !!js nothing.there throws ReferenceError: nothing is not defined',
      'cordis.yml:1:3: entry "./quiet.mjs" (./quiet.mjs): config key "a[0]": !!js missing() throws ReferenceError: missing is not defined',
      'cordis.yml:1:3: entry "./quiet.mjs" (./quiet.mjs): config key "b.c": !!js 1 + throws SyntaxError: Unexpected end of input',
    ],
  },
  {
    is: 'an environment variable that is not set',
    yml: '- name: ./tool.mjs\n  config:\n    provider: !!js process.env.OFFSHOOT_NOT_SET\n    maxDepth: !!js Number(process.env["OFFSHOOT_NOT_SET_EITHER"])\n    mode: !!js process.env.OFFSHOOT_NOT_SET ?? "medium"\n- name: ./quiet.mjs\n  config: { url: !!js process.env.OFFSHOOT_NOT_SET.trim() }\n',
    lines: [
      'cordis.yml:1:3: entry "./tool.mjs" (./tool.mjs): environment variable OFFSHOOT_NOT_SET is not set; config key "provider" needs it (!!js process.env.OFFSHOOT_NOT_SET)',
      'cordis.yml:1:3: entry "./tool.mjs" (./tool.mjs): environment variable OFFSHOOT_NOT_SET_EITHER is not set; config key "maxDepth" needs it (!!js Number(process.env["OFFSHOOT_NOT_SET_EITHER"]))',
      'cordis.yml:1:3: entry "./tool.mjs" (./tool.mjs): config key "mode": expected "fast" | "slow" but got "medium"',
      'cordis.yml:6:3: entry "./quiet.mjs" (./quiet.mjs): environment variable OFFSHOOT_NOT_SET is not set; config key "url" needs it (!!js process.env.OFFSHOOT_NOT_SET.trim())',
    ],
  },
]

describe('an entry that names what cannot be used is refused for', () => {
  it.each(unusable)('$is', async (broken) => { await expectRefusal(broken) })
})

describe('an entry with a wrong config is refused for', () => {
  it.each(misconfigured)('$is', async (broken) => { await expectRefusal(broken) })
})
