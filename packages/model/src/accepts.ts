import type { LanguageModel } from './types.ts'

/** Whether a model takes files of a media type, as far as anybody says. */
export function acceptsMedia({ accepts }: Pick<LanguageModel, 'accepts'>, mediaType: string): boolean {
  return accepts === undefined || accepts.some(type => type === mediaType || type.endsWith('/*') && mediaType.startsWith(type.slice(0, -1)))
}
