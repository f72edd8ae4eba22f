/**
 * The committed pictures: one sheet for each theme and view, with every state at a third of its size. Small enough to be
 * committed, and too coarse for the shapes of letters, which are others on another machine: what is compared is where
 * things stand and which color they have.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** A tile is so much smaller than its picture. */
export const SCALE = 3;
const COLUMNS = 7;
/** Pixels of a tile, in each direction, whose mean is compared. */
const CELL = 6;
/** A cell differs if one of its color channels does by more than this, of 255. */
const CELL_TOLERANCE = 28;
/** Share of a tile's cells that may differ, such as by a line that breaks elsewhere. */
export const TOLERANCE = 0.03;

/** Draws pictures, PNGs by name, as one sheet; returns it as WebP. They stand in the order of their names. */
export async function sheetOf(browser, pictures, size) {
  const page = await browser.newPage();
  const data = await page.evaluate(drawSheet, [pictures.map(toBase64), tileOf(size), COLUMNS]);
  await page.close();
  return Buffer.from(data, 'base64');
}

/** By tile, the share of its cells that differ between two sheets of the same make. */
export async function differences(browser, one, other, count, size) {
  const page = await browser.newPage();
  const given = [toBase64(one), toBase64(other), count, tileOf(size), COLUMNS, CELL, CELL_TOLERANCE];
  const shares = await page.evaluate(compareSheets, given);
  await page.close();
  return shares;
}

export function keepSheet(file, sheet) {
  writeFileSync(file, sheet);
}

export function committedSheet(file) {
  return existsSync(file) ? readFileSync(file) : undefined;
}

const toBase64 = (data) => data.toString('base64');
const tileOf = ([width, height]) => [Math.round(width / SCALE), Math.round(height / SCALE)];

/* The following run in the browser, which has a decoder and an encoder for images. */

async function drawSheet([pictures, [width, height], columns]) {
  const canvas = new OffscreenCanvas(width * columns, height * Math.ceil(pictures.length / columns));
  const context = canvas.getContext('2d');
  context.imageSmoothingQuality = 'high';
  for (const [index, picture] of pictures.entries()) {
    const bytes = Uint8Array.from(atob(picture), (letter) => letter.codePointAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    context.drawImage(image, (index % columns) * width, Math.floor(index / columns) * height, width, height);
  }
  const blob = await canvas.convertToBlob({ type: 'image/webp', quality: 0.75 });
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = '';
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCodePoint(...bytes.subarray(at, at + 8192));
  return btoa(text);
}

async function compareSheets([one, other, count, [width, height], columns, cell, tolerance]) {
  const pixels = async (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.codePointAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/webp' }));
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  const [before, after] = [await pixels(one), await pixels(other)];
  if (before.width !== after.width || before.height !== after.height) return Array.from({ length: count }, () => 1);
  const mean = ({ data, width: row }, left, top, channel) => {
    let sum = 0;
    for (let y = top; y < top + cell; y++)
      for (let x = left; x < left + cell; x++) sum += data[(y * row + x) * 4 + channel];
    return sum / (cell * cell);
  };
  return Array.from({ length: count }, (_, index) => {
    const [left, top] = [(index % columns) * width, Math.floor(index / columns) * height];
    let [cells, differing] = [0, 0];
    for (let y = top; y + cell <= top + height; y += cell)
      for (let x = left; x + cell <= left + width; x += cell) {
        cells++;
        if ([0, 1, 2].some((channel) => Math.abs(mean(before, x, y, channel) - mean(after, x, y, channel)) > tolerance))
          differing++;
      }
    return differing / cells;
  });
}
