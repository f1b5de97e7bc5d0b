import { parse } from 'yaml'

/** The value that a YAML text holds, with `!!js` expressions as their text. */
export function yamlOf(text: string): unknown {
  return parse(text, { customTags: [{ tag: 'tag:yaml.org,2002:js', resolve: (expression: string) => expression }] })
}

/** The plugins that a cordis.yml loads, groups included; none where the value is something else. */
export function pluginNames(value: unknown): string[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null || !('name' in entry) || typeof entry.name !== 'string') return []
    return 'group' in entry && entry.group === true && 'config' in entry ? pluginNames(entry.config) : [entry.name]
  })
}
