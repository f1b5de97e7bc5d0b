import { describe, expect, it } from 'vitest'
import { importsOf, isOffshoot, type Member, offshootIds, packages, read, referencesOf, repositoryFiles } from './workspace.ts'

// Lowest first. This is the one place where the order is written.
const services = ['problems', 'session', 'model', 'tools', 'agent', 'tasks', 'approvals', 'subagent', 'worktree']

/** Plain libraries below everything: anybody may take them, and they take none of these packages. */
const foundations = ['processes']

/** What several packages of one kind are built from; it belongs to that kind, and only that kind takes it. */
const libraries = ['subagent-in-process']

/** They bring the whole thing together, so they may take anything below them. */
const assemblies = ['runtime', 'cli']

const byId = new Map(packages.map(member => [member.id, member]))

/** Tools, providers and models are named for what they are. */
function isLeaf(id: string): boolean {
  return /^(tool|subagent|model)-/.test(id)
}

/** Why `from` must not depend on `to`, or `undefined` where it may. */
function refusal(from: string, to: string): string | undefined {
  if (foundations.includes(from)) return 'a foundation takes no other package'
  if (foundations.includes(to)) return undefined
  if (services.includes(from)) {
    return services.indexOf(to) < services.indexOf(from) && services.includes(to) ? undefined : 'a service depends on lower services only'
  }
  if (from === 'cli' || services.includes(to)) return undefined
  if (libraries.includes(to)) return from.split('-')[0] === to.split('-')[0] ? undefined : 'a library serves its own kind'
  if (isLeaf(to)) return assemblies.includes(from) ? undefined : 'only runtime and cli take tools, providers and models'
  return 'only cli takes a surface'
}

describe('dependencies', () => {
  it.each(packages)('of $id point down', ({ id, manifest }) => {
    const wrong = [...offshootIds(manifest.dependencies), ...offshootIds(manifest.peerDependencies)]
      .flatMap(to => refusal(id, to) ? [`${id} → ${to}: ${refusal(id, to)}`] : [])
    expect(wrong).toEqual([])
  })

  it('have no cycle', () => {
    expect(cycles()).toEqual([])
  })

  it.each(packages)('of $id declare every workspace package that its source imports', ({ dir, manifest }) => {
    const imported = repositoryFiles(`${dir}/src/*.ts`).flatMap(file => importsOf(read(file))).filter(name => name !== manifest.name)
    expect(imported.filter(isOffshoot).filter(name => !manifest.dependencies?.[name])).toEqual([])
  })

  it.each(packages)('of $id are what its tsconfig references', ({ dir, manifest }) => {
    expect(referencesOf(`${dir}/tsconfig.json`).sort()).toEqual(offshootIds(manifest.dependencies).map(id => `../${id}`))
  })
})

describe('the order', () => {
  it('knows every package that provides a service, tools aside', () => {
    const providing = packages.filter(({ manifest }) => manifest.cordis?.service?.implements).map(({ id }) => id)
    expect(providing.filter(id => !isLeaf(id) && !services.includes(id))).toEqual([])
  })

  it('holds nothing but packages that provide one', () => {
    const existing = services.flatMap(id => byId.get(id) ?? [])
    expect(existing.filter(({ manifest }) => !manifest.cordis?.service?.implements?.length).map(({ id }) => id)).toEqual([])
  })

  it.each([
    ['session', 'model'],
    ['processes', 'problems'],
    ['agent', 'model-scripted'],
    ['tool-subagent', 'subagent-spawn'],
    ['subagent-spawn', 'subagent-acp'],
    ['tool-subagent', 'subagent-in-process'],
    ['loader', 'runtime'],
    ['runtime', 'loader'],
    ['acp-agent', 'cli'],
  ])('refuses that %s takes %s', (from, to) => {
    expect(refusal(from, to)).toBeDefined()
  })
})

function cycles(): string[] {
  const found: string[] = []
  const done = new Set<string>()
  const visit = ({ id, manifest }: Member, path: readonly string[]): void => {
    if (path.includes(id)) found.push([...path.slice(path.indexOf(id)), id].join(' → '))
    if (path.includes(id) || done.has(id)) return
    for (const to of offshootIds(manifest.dependencies)) {
      const next = byId.get(to)
      if (next) visit(next, [...path, id])
    }
    done.add(id)
  }
  for (const member of packages) visit(member, [])
  return found
}
