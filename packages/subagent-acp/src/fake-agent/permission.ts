export interface PermissionOption {
  readonly optionId: string
  readonly name: string
  readonly kind: string
}

/** What a permission request can offer. */
export const permissionOptions = {
  'all': [option('allow_once'), option('allow_always'), option('reject_once'), option('reject_always')],
  'allow-once': [option('allow_once')],
  'allow-always': [option('allow_always')],
  'reject-once': [option('reject_once')],
  'reject-always': [option('reject_always')],
  'none': [],
  // The dangerous one comes first, and the ids say nothing about the kinds.
  'odd': [option('allow_always', 'proceed'), option('allow_once', ''), option('reject_once', 'proceed_once')],
  'unknown-kind': [option('ask_later'), option('allow_some')],
} as const satisfies Record<string, readonly PermissionOption[]>

export type PermissionSet = keyof typeof permissionOptions

export const permissionSets = Object.keys(permissionOptions) as readonly PermissionSet[]

/** The outcome in the words that the agent puts into its answer: `permission: selected reject-once`. */
export function outcomeText({ result, error }: { readonly result?: unknown, readonly error?: unknown }): string {
  if (error !== undefined) return `permission: error ${(error as { readonly code?: number }).code}`
  const { outcome } = (result ?? {}) as { readonly outcome?: { readonly outcome?: string, readonly optionId?: string } }
  return outcome?.outcome === 'selected' ? `permission: selected ${outcome.optionId}` : `permission: ${outcome?.outcome ?? 'no outcome'}`
}

/** Whether the option that was selected allows the tool. */
export function allows(answer: { readonly result?: unknown }, set: PermissionSet): boolean {
  const { outcome } = (answer.result ?? {}) as { readonly outcome?: { readonly optionId?: string } }
  const options: readonly PermissionOption[] = permissionOptions[set]
  return options.find(each => each.optionId === outcome?.optionId)?.kind.startsWith('allow') ?? false
}

function option(kind: string, optionId = kind.replace('_', '-')): PermissionOption {
  return { optionId, name: kind.replace('_', ' '), kind }
}
