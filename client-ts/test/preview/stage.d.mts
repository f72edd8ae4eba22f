import type { Browser } from 'playwright-core';

export function openStage(): Promise<{ browser: Browser; origin: string; close(): Promise<void> }>;
export function browserPath(): string;
