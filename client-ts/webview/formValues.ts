/** What a person entered into the form of a question, and whether it fits the schema. The server looks again. Pure. */
import type * as wire from '../src/wire.gen.ts';
import { t } from './l10n.ts';

/** As a field of the form holds it: a text for texts, numbers and single choices, a list for several choices. */
export type Entered = string | boolean | readonly string[];

export type Read = { value: string | number | boolean | string[] | undefined } | { error: string };

const LONGEST = 32 * 1024;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** What stands in a field before anything is entered. */
export function initialEntry(field: wire.ElicitationProperty): Entered {
  const given = field.default;
  if (field.type === 'boolean') return given === true;
  if (field.type === 'array') return Array.isArray(given) ? given.map(String) : [];
  if (field.format === 'date-time') return typeof given === 'string' ? localTime(given) : '';
  return typeof given === 'string' || typeof given === 'number' ? String(given) : '';
}

/** The value that goes to the agent, undefined for a field that was left empty; or what is wrong. */
export function readEntry(field: wire.ElicitationProperty, entered: Entered, required: boolean): Read {
  if (typeof entered === 'boolean') return { value: entered };
  if (typeof entered !== 'string') return readList(field, entered, required);
  const text = field.type === 'string' && !field.format ? entered : entered.trim();
  if (text === '') return required ? { error: t('This is required.') } : { value: undefined };
  if (field.type === 'number' || field.type === 'integer') return readNumber(field, text);
  if (field.oneOf) return { value: text };
  return readText(field, text);
}

function readText(field: wire.ElicitationProperty, text: string): Read {
  const { minLength = 0, maxLength = LONGEST } = field;
  const length = Array.from(text).length;
  if (length < minLength) return { error: t('Enter at least {0} characters.', minLength) };
  if (length > Math.min(maxLength, LONGEST))
    return { error: t('Enter {0} characters at most.', Math.min(maxLength, LONGEST)) };
  switch (field.format) {
    case 'email':
      return /^[^@\s]+@[^@\s.]+(?:\.[^@\s.]+)+$/.test(text)
        ? { value: text }
        : { error: t('Enter an e-mail address, such as name@example.com.') };
    case 'uri':
      return /^[a-z][a-z0-9+.-]*:\S+$/i.test(text)
        ? { value: text }
        : { error: t('Enter a URI, such as https://example.com.') };
    case 'date':
      return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
        ? { value: text }
        : { error: t('Enter a date.') };
    case 'date-time': {
      const at = new Date(text);
      return Number.isNaN(at.getTime()) ? { error: t('Enter a date and a time.') } : { value: at.toISOString() };
    }
    case undefined:
      return { value: text };
  }
}

function readNumber(field: wire.ElicitationProperty, text: string): Read {
  const value = Number(text);
  if (!NUMBER.test(text) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return { error: t('Enter a number.') };
  if (field.type === 'integer' && !Number.isInteger(value)) return { error: t('Enter a whole number.') };
  if (field.minimum !== undefined && value < field.minimum) return { error: t('Enter {0} or more.', field.minimum) };
  if (field.maximum !== undefined && value > field.maximum) return { error: t('Enter {0} or less.', field.maximum) };
  return { value };
}

function readList(field: wire.ElicitationProperty, chosen: readonly string[], required: boolean): Read {
  if (chosen.length === 0 && !required) return { value: undefined };
  const { minItems = required ? 1 : 0, maxItems = Number.POSITIVE_INFINITY } = field;
  if (chosen.length < minItems) return { error: t('Choose at least {0}.', minItems) };
  if (chosen.length > maxItems) return { error: t('Choose {0} at most.', maxItems) };
  return { value: [...chosen] };
}

/** A moment as a field for date and time holds it: in the person's own time, without its zone. */
function localTime(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
