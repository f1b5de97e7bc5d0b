import { describe, it } from 'vitest'
import { type Broken, expectRefusal } from './refusal.ts'

const provides = (service: string) => `export const name = 'has-${service}'\nexport function apply(ctx) { ctx.provide('${service}', {}) }`

const failing: Broken[] = [
  {
    is: 'a plugin that throws',
    yml: '- name: ./sync.mjs\n- name: ./async.mjs\n- name: ./class.mjs\n- name: ./odd.mjs\n',
    files: {
      'sync.mjs': 'export function apply() { undefined.length }',
      'async.mjs': 'export async function apply() { await null; throw new Error("the endpoint says no\\n  at length") }',
      'class.mjs': 'export default class A { constructor() { throw new Error("not today") } }',
      'odd.mjs': 'export async function apply() { throw "just text" }',
    },
    lines: [
      'cordis.yml:1:3: entry "./sync.mjs" (./sync.mjs): TypeError: Cannot read properties of undefined (reading \'length\')',
      'cordis.yml:2:3: entry "./async.mjs" (./async.mjs): the endpoint says no',
      'cordis.yml:3:3: entry "./class.mjs" (./class.mjs): not today',
      'cordis.yml:4:3: entry "./odd.mjs" (./odd.mjs): just text',
    ],
  },
  {
    is: 'what goes wrong inside a bundle',
    yml: '- name: ./quiet.mjs\n- id: all\n  name: ./bundle.mjs\n',
    files: {
      'bundle.mjs': `
        import * as tool from './tool.mjs'
        export const name = 'bundle'
        export function apply(ctx) {
          ctx.plugin({ name: 'broken', apply() { throw new Error('broke') } })
          ctx.plugin({ name: 'late', async apply(inner) { inner.plugin({ name: 'deep', async apply() { throw new Error('broke too') } }) } })
          ctx.plugin({ name: 'waiting', inject: ['engine'], apply() {} })
          ctx.plugin(tool, { provider: 1 })
          ctx.inject(['optional'], () => {})
        }
      `,
    },
    lines: [
      'cordis.yml:2:3: entry "all" (./bundle.mjs): plugin "tool": config key "provider": expected string but got 1',
      'cordis.yml:2:3: entry "all" (./bundle.mjs): plugin "broken": broke',
      'cordis.yml:2:3: entry "all" (./bundle.mjs): plugin "deep": broke too',
      'cordis.yml:2:3: entry "all" (./bundle.mjs): plugin "waiting": waits for service "engine": no loaded plugin provides it',
    ],
  },
  {
    is: 'a bundle that fails with its part, once',
    yml: '- name: ./bundle.mjs\n- name: ./wrapper.mjs\n- name: ./reporter.mjs\n',
    files: {
      'reporter.mjs': 'export const inject = ["problems"]\nexport function apply(ctx) { const error = new Error("broke"); ctx.plugin({ name: "part", apply() { throw error } }); ctx.problems.report(ctx, error) }',
      'bundle.mjs': 'export async function apply(ctx) { await ctx.plugin({ name: "part", apply() { throw new Error("broke") } }) }',
      'wrapper.mjs': 'export async function apply(ctx) { try { await ctx.plugin({ name: "part", apply() { throw new Error("broke") } }) } catch (cause) { throw new Error("no part", { cause }) } }',
    },
    lines: [
      'cordis.yml:1:3: entry "./bundle.mjs" (./bundle.mjs): plugin "part": broke',
      'cordis.yml:2:3: entry "./wrapper.mjs" (./wrapper.mjs): plugin "part": broke',
      'cordis.yml:3:3: entry "./reporter.mjs" (./reporter.mjs): plugin "part": broke',
    ],
  },
  {
    is: 'a service that two entries provide',
    yml: '- name: ./engine.mjs\n- id: second\n  name: ./engine.mjs\n',
    files: { 'engine.mjs': provides('engine') },
    lines: ['cordis.yml:2:3: entry "second" (./engine.mjs): service "engine" is already provided by entry "./engine.mjs" (./engine.mjs) at cordis.yml:1:3; remove one of the two, or "isolate" it'],
  },
  {
    is: 'a service that nobody provides',
    yml: '- name: ./engine.mjs\n- name: ./user.mjs\n- name: ./quiet.mjs\n  inject: [wheels, problem]\n- name: ./tools-user.mjs\n- name: ./named.mjs\n  inject: [wheels]\n',
    files: {
      'named.mjs': 'export default function named() {}',
      'engine.mjs': provides('engine'),
      'user.mjs': 'export const inject = ["engin"]\nexport function apply() {}',
      'tools-user.mjs': 'export const inject = { tools: null }\nexport function apply() {}',
    },
    lines: [
      'cordis.yml:2:3: entry "./user.mjs" (./user.mjs): waits for service "engin": no loaded plugin provides it; did you mean "engine"?',
      'cordis.yml:3:3: entry "./quiet.mjs" (./quiet.mjs): waits for services "wheels" and "problem": no loaded plugin provides them; for "problem" did you mean "problems"?',
      'cordis.yml:5:3: entry "./tools-user.mjs" (./tools-user.mjs): waits for service "tools": no loaded plugin provides it; package "@offshoot/tools" provides it',
      'cordis.yml:6:3: entry "./named.mjs" (./named.mjs): waits for service "wheels": no loaded plugin provides it',
    ],
  },
  {
    is: 'entries that wait for each other, as one circle',
    yml: '- name: ./quiet.mjs\n- id: a\n  name: ./a.mjs\n- id: b\n  name: ./b.mjs\n- id: c\n  name: ./c.mjs\n- name: ./d.mjs\n- name: ./self.mjs\n',
    files: {
      'a.mjs': 'export const inject = ["bee"]\nexport function apply(ctx) { ctx.provide("ay", {}) }',
      'b.mjs': 'import { Service } from "cordis"\nexport default class Bee extends Service { static inject = ["sea"]; constructor(ctx) { super(ctx, "bee") } }',
      'c.mjs': 'import { Service } from "cordis"\nexport default class Sea extends Service { static inject = ["ay"]; static provide = "sea" }',
      'd.mjs': 'export const inject = ["bee"]\nexport function apply() {}',
      'self.mjs': 'export const inject = ["self"]\nexport function apply(ctx) { ctx.provide("self", {}) }',
    },
    lines: [
      'cordis.yml:2:3: entry "a" (./a.mjs): waits in a circle for service "bee" of entry "b" (./b.mjs) at cordis.yml:4:3, which waits for service "sea" of entry "c" (./c.mjs) at cordis.yml:6:3, which waits for service "ay", which this entry provides; one of them must not inject the other',
      'cordis.yml:9:3: entry "./self.mjs" (./self.mjs): waits for service "self", which it provides itself; it must not inject it',
    ],
  },
  {
    is: 'a failed entry, but not what waits for it',
    yml: '- name: ./engine.mjs\n- name: ./user.mjs\n- name: ./bad.mjs\n  config: { a: 1 }\n- name: ./wheels-user.mjs\n',
    files: {
      'engine.mjs': 'export function apply(ctx) { ctx.provide("engine", {}); throw new Error("no fuel") }',
      'user.mjs': 'export const inject = ["engine"]\nexport function apply(ctx) { ctx.provide("car", {}) }',
      'bad.mjs': 'import z from "schemastery"\nexport const Config = z.object({ a: z.string() })\nexport function apply(ctx) { ctx.provide("wheels", {}) }',
      'wheels-user.mjs': 'export const inject = ["wheels", "car"]\nexport function apply() {}',
    },
    lines: [
      'cordis.yml:1:3: entry "./engine.mjs" (./engine.mjs): no fuel',
      'cordis.yml:3:3: entry "./bad.mjs" (./bad.mjs): config key "a": expected string but got 1',
    ],
  },
  {
    is: 'what plugins report and check, in a bundle too',
    yml: '- name: ./checks.mjs\n- name: ./fine.mjs\n- name: ./bundle.mjs\n',
    files: {
      'checks.mjs': `
        export const inject = ['problems']
        export function apply(ctx) {
          ctx.problems.check(ctx, () => ctx.get('engine') ? undefined : 'no provider "spwan"; did you mean "spawn"?')
          ctx.problems.check(ctx, () => { throw new Error('the check broke') })
          ctx.problems.report(ctx, new Error('cannot filter tools\\nwith more'))
        }
      `,
      'fine.mjs': 'export const inject = ["problems"]\nexport function apply(ctx) { ctx.problems.check(ctx, () => undefined); ctx.problems.report(ctx, new Error("solved"))() }',
      'bundle.mjs': 'import * as checks from "./checks.mjs"\nexport function apply(ctx) { ctx.plugin({ name: "part", inject: ["problems"], apply(inner) { inner.problems.check(inner, () => "not inside either") } }) }',
    },
    lines: [
      'cordis.yml:1:3: entry "./checks.mjs" (./checks.mjs): cannot filter tools',
      'cordis.yml:1:3: entry "./checks.mjs" (./checks.mjs): no provider "spwan"; did you mean "spawn"?',
      'cordis.yml:1:3: entry "./checks.mjs" (./checks.mjs): the check broke',
      'cordis.yml:3:3: entry "./bundle.mjs" (./bundle.mjs): not inside either',
    ],
  },
  {
    is: 'a tool name that two entries want, by naming both',
    yml: '- name: \'@offshoot/tools\'\n- id: first\n  name: ./tool-plugin.mjs\n- id: second\n  name: ./tool-plugin.mjs\n',
    files: { 'tool-plugin.mjs': 'export const name = "tool-plugin"\nexport const inject = ["tools"]\nexport function apply(ctx) { ctx.tools.reserve("research", ctx) }' },
    lines: ['cordis.yml:4:3: entry "second" (./tool-plugin.mjs): tool name "research" is already taken by tool-plugin (cordis.yml:2:3); give one of the two another name'],
  },
]

describe('an app that does not start is refused for', () => {
  it.each(failing)('$is', async (broken) => { await expectRefusal(broken) })
})
