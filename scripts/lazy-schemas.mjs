import { readFileSync } from 'node:fs'

/** A schema of the protocol's SDK, to the end of its statement. */
const schema = /^(?:export )?const (z[A-Z]\w*) = ([^]*?);$(?=\n(?:\/[/*]|(?:export )?const |function |$))/gm

/**
 * For esbuild: the protocol's SDK makes two hundred schemas as it is loaded, which takes longer than all else that happens before a first answer, and an
 * agent meets a dozen of them. Here each is made when it is first used. Source of another shape is left as it is.
 *
 * @type {import('esbuild').Plugin}
 */
export const lazySchemas = {
  name: 'lazy-schemas',
  setup(build) {
    const change = (/** @type {string} */ file, /** @type {(source: string) => string} */ changed) => {
      build.onLoad({ filter: new RegExp(`/@agentclientprotocol/sdk/dist/v1/${file}$`) }, ({ path }) => ({ contents: changed(readFileSync(path, 'utf8')) }))
    }
    change('(?:unstable/)?schema/zod\\.gen\\.js', source => {
      const names = Array.from(source.matchAll(schema), ([, name]) => String(name))
      const ours = new RegExp(`\\b(?:${names.join('|')})\\b`, 'g')
      const makers = source.replaceAll(schema, (_all, name, made) => `lazily('${name}', () => ${made.replaceAll(ours, 'schemas.$&')});`)
      return `const schemas = {};\nexport { schemas };\n${makers}\nfunction lazily(name, make) {
  Object.defineProperty(schemas, name, { configurable: true, get: () => { const value = make(); Object.defineProperty(schemas, name, { value }); return value } });\n}`
    })
    const fromSchemas = (/** @type {string} */ source) => source.replace(/^import \* as validate from (".*\/zod\.gen\.js");$/m, 'import { schemas as validate } from $1;')
    change('(?:unstable/)?schema/guards\\.gen\\.js', source => `${fromSchemas(source).replaceAll(schema, (_all, name, made) => `const ${name} = lazily(() => ${made});`)}
function lazily(make) { let made; return { safeParse: value => (made ??= make()).safeParse(value) } }`)
    // It takes a function in place of a schema.
    change('(?:stable/)?acp\\.js', source => fromSchemas(source).replaceAll(/((?:request|notification)Spec\([\w.]+, )(validate\.z\w+)/g, '$1value => $2.parse(value)'))
  },
}
