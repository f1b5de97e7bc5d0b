import { Inject, type Plugin } from 'cordis'
import { InstalledPackages, type Manifest, manifestOf, servicesOf } from './packages.ts'

/**
 * The services that a plugin will provide, as far as can be told without running it: its static `provide` says so,
 * its source passes the name to `provide()` or to `super()`, or its package does.
 *
 * @param module where the plugin of a package was found; nothing for a file of the app itself
 */
export function servicesOfPlugin(plugin: Plugin, module: URL | undefined): ReadonlySet<string> {
  const { provide, inject } = plugin
  const source = Function.prototype.toString.call(typeof plugin === 'function' ? plugin : plugin['apply'])
  const literals = [...source.matchAll(/(?:\bprovide\(\s*|\bsuper\(\s*\w+\s*,\s*)(['"`])([\w.-]+)\1/g)].map(match => match[2]!)
  const services = new Set([...typeof provide === 'string' ? [provide] : provide ?? [], ...literals])
  if (!module) return services
  const needed = Inject.resolve(inject)
  const bundled = servicesOfPackage(module).filter(service => !(service in needed))
  return new Set([...services, ...bundled])
}

/** What the package of a module says it provides, or what the packages say that it is built on. */
export function servicesOfPackage(module: URL): string[] {
  const manifest: Manifest | undefined = manifestOf(module)
  const own = servicesOf(manifest)
  if (own.length) return [...own]
  const within = new InstalledPackages([module])
  return Object.keys(manifest?.dependencies ?? {}).flatMap(name => within.services(name))
}
