/** How much the file tools take in and give back. */
export interface Limits {
  /** Of one `read_file` answer. */
  maxReadBytes: number
  /** Of one `read_file` answer. */
  maxReadLines: number
  /** A larger file is not edited and not searched; reading it goes by parts. */
  maxFileBytes: number
  /** Files that one `list_files` answer names. */
  maxEntries: number
  /** Lines that one `search_files` answer shows. */
  maxMatches: number
  /** Names of folders that listing and searching do not enter. */
  ignore: string[]
}
