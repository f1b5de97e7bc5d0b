/** `value`, frozen with everything in it. For JSON that comes from elsewhere: what is made here is frozen where it is made. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const key in value) deepFreeze(value[key])
    Object.freeze(value)
  }
  return value
}
