export const BUNDLE: string;
export function bundle(): string;
