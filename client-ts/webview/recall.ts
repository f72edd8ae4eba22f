/**
 * Going through what was written before, as in a shell. Keeps where the person is in it, and what they had begun, which
 * comes back at the end.
 */
export class Recall {
  private prompts: readonly string[] = [];
  /** Index of the prompt in the text box; undefined while the person's own text stands there. */
  private at: number | undefined;
  private begun = '';
  private readonly sentHere: string[] = [];

  sent(text: string): void {
    this.sentHere.push(text);
    this.leave();
  }

  /** The person changed the text: it is their own again. */
  leave(): void {
    this.at = undefined;
  }

  /** The prompt before the one in the text box; undefined if this is the first. `prompts` are those of the chat, oldest first. */
  older(text: string, prompts: readonly string[]): string | undefined {
    if (this.at === undefined) {
      const all = [...prompts, ...this.sentHere.filter((one) => !prompts.includes(one))];
      this.prompts = all.filter((one, index) => one !== all[index + 1]);
      this.begun = text;
    }
    const next = (this.at ?? this.prompts.length) - 1;
    const found = this.prompts[next];
    if (found !== undefined) this.at = next;
    return found;
  }

  /** The prompt after it, and at the end what had been begun; undefined while the person's own text stands there. */
  newer(): string | undefined {
    if (this.at === undefined) return undefined;
    const next = this.at + 1;
    this.at = next < this.prompts.length ? next : undefined;
    return this.prompts[next] ?? this.begun;
  }
}
