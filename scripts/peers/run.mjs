// `npm run test:peers [-- name … --write]`: real agents as children of ours, and real clients of our agent, on a model on 127.0.0.1. Exits 1 when something does not hold.
import { release } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import '../build.mjs'
import { clients, newNode } from './clients/clients.mjs'
import { install, programIn } from './install.mjs'
import { startModel } from './llm/server.mjs'
import { peers } from './peers.mjs'
import { table, writeResults } from './report.mjs'

const { values: { write }, positionals: names } = parseArgs({ allowPositionals: true, options: { write: { type: 'boolean', default: false } } })
const all = [...peers, ...clients]
const unknown = names.filter(name => !all.some(peer => peer.name === name))
if (unknown.length > 0) stop(`There is no peer ${unknown.join(', ')}; there are ${all.map(({ name }) => name).join(', ')}.`)
if (process.platform !== 'linux') stop('This looks for processes in /proc, which only Linux has.')

// They import what the line above has built.
const { Bench } = await import('./bench.mjs')
const { checks } = await import('./checks.mjs')
const { ClientBench } = await import('./clients/bench.mjs')
const { clientChecks } = await import('./clients/checks.mjs')

/** @typedef {Awaited<ReturnType<typeof startModel>>} Model */

/**
 * Agents, or clients: who there is, and what is tried with each.
 *
 * @template {import('./report.mjs').Subject & { without?: Partial<Record<string, string>> }} S
 * @template {{ sweep(): string[] | Promise<string[]>, close(): Promise<void>, times: object[] }} B
 * @typedef {object} Side
 * @property {string} what
 * @property {S[]} subjects
 * @property {readonly { title: string, needs?: string, run(bench: B): Promise<string | void> }[]} checks
 * @property {string[]} timeTitles
 * @property {(subject: S) => Promise<(model: Model) => Promise<B>>} prepare installs it
 */

/** @type {Side<import('./peers.mjs').Peer, InstanceType<typeof Bench>>} */
const agents = {
  what: 'agents', subjects: peers, checks, timeTitles: ['start, ms', 'first answer, ms', 'dispose, ms'],
  prepare: async peer => {
    const command = programIn(await install(peer), peer.bin)
    return model => Bench.open(peer, command, model)
  },
}

/** @type {Side<import('./clients/clients.mjs').Client, InstanceType<typeof ClientBench>>} */
const drivers = {
  what: 'clients', subjects: clients, checks: clientChecks, timeTitles: ['start to first words, ms'],
  prepare: async client => {
    const library = await install(client)
    const node = client.needsNewNode ? join(await install(newNode), 'node_modules', newNode.package, 'bin', 'node') : process.execPath
    return model => Promise.resolve(new ClientBench(client, { library, node }, model))
  },
}

const teardown = 'nothing is left behind'

// An exit takes the agents with it; a signal alone would not.
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.once(signal, () => process.exit(1))

await tryAll(agents)
await tryAll(drivers)

/**
 * @template {import('./report.mjs').Subject & { without?: Partial<Record<string, string>> }} S
 * @template {{ sweep(): string[] | Promise<string[]>, close(): Promise<void>, times: object[] }} B
 * @param {Side<S, B>} side
 */
async function tryAll(side) {
  const chosen = names.length === 0 ? side.subjects : side.subjects.filter(({ name }) => names.includes(name))
  if (chosen.length === 0) return
  /** @type {import('./report.mjs').PeerReport[]} */
  const reports = []
  for (const subject of chosen) reports.push(await report(side, subject))
  const results = table(reports, [...side.checks.map(({ title }) => title), teardown], side.timeTitles)
  console.log(`\n${results}`)
  const has = (/** @type {import('./report.mjs').Outcome['status']} */ status) => reports.some(each => each.outcomes.some(outcome => outcome.status === status))
  if (has('failed')) process.exitCode = 1
  if (!write) return
  // The table has one column for each.
  if (has('skipped') || chosen.length < side.subjects.length) stop(`Nothing was written of the ${side.what}: not all of them were tried.`)
  writeResults(side.what, `Measured on ${new Date().toISOString().slice(0, 10)} with Node ${process.versions.node}, Linux ${release().replace(/-.*/, '')}.\n\n${results}`)
}

/**
 * @template {import('./report.mjs').Subject & { without?: Partial<Record<string, string>> }} S
 * @template {{ sweep(): string[] | Promise<string[]>, close(): Promise<void>, times: object[] }} B
 * @param {Side<S, B>} side @param {S} subject
 * @returns {Promise<import('./report.mjs').PeerReport>}
 */
async function report(side, subject) {
  console.log(`\n${subject.name}: ${subject.package} ${subject.version}`)
  /** @type {(model: Model) => Promise<B>} */
  let open
  try {
    open = await side.prepare(subject)
  } catch (error) {
    console.log(`  skipped: ${messageOf(error)}`)
    return { peer: subject, outcomes: [...side.checks.map(({ title }) => title), teardown].map(title => ({ title, status: 'skipped' })), times: [] }
  }
  return withoutInheritance(() => runChecks(side, subject, open))
}

/**
 * @template {import('./report.mjs').Subject & { without?: Partial<Record<string, string>> }} S
 * @template {{ sweep(): string[] | Promise<string[]>, close(): Promise<void>, times: object[] }} B
 * @param {Side<S, B>} side @param {S} subject @param {(model: Model) => Promise<B>} open
 * @returns {Promise<import('./report.mjs').PeerReport>}
 */
async function runChecks(side, subject, open) {
  const model = await startModel()
  const bench = await open(model)
  /** @type {import('./report.mjs').Outcome[]} */
  const outcomes = []
  /** @type {string[]} */
  const left = []
  try {
    for (const check of side.checks) {
      const { title, needs } = check
      const without = needs === undefined ? undefined : subject.without?.[needs]
      outcomes.push(said(without === undefined ? await outcomeOf(title, () => check.run(bench)) : { title, status: 'not offered', note: without }))
      left.push(...(await bench.sweep()).map(each => `after "${title}": ${each}`))
    }
    outcomes.push(said({ title: teardown, ...left.length === 0 ? { status: 'passed' } : { status: 'failed', note: left.join('\n') } }))
  } finally {
    await bench.close()
    await model.close()
  }
  const [first] = bench.times
  return { peer: subject, outcomes, times: Object.values(first ?? {}).map(ms => `${Math.round(ms)}`) }
}

/** @param {string} title @param {() => Promise<string | void>} run @returns {Promise<import('./report.mjs').Outcome>} */
async function outcomeOf(title, run) {
  try {
    return { title, status: 'passed', note: await run() ?? undefined }
  } catch (error) {
    return { title, status: 'failed', note: messageOf(error) }
  }
}

/** @param {import('./report.mjs').Outcome} outcome */
function said(outcome) {
  const { title, status, note } = outcome
  console.log(`  ${status === 'passed' ? 'ok  ' : status === 'failed' ? 'FAIL' : '–   '}  ${title}${note === undefined ? '' : ` (${note})`}`)
  return outcome
}

/**
 * Without this process's environment but the PATH, so that an agent finds nothing of whoever runs this.
 *
 * @template T
 * @param {() => Promise<T>} body
 */
async function withoutInheritance(body) {
  const before = { ...process.env }
  for (const name of Object.keys(before)) if (name !== 'PATH' && !name.startsWith('OFFSHOOT_')) delete process.env[name]
  try {
    return await body()
  } finally {
    Object.assign(process.env, before)
  }
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error)
}

/** @param {string} message @returns {never} */
function stop(message) {
  console.error(message)
  process.exit(1)
}
