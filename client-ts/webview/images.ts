/** Images that are pasted or dropped into the composer: which of the files are some, and their bytes as base64. */
import { megabytes, MOST_IMAGE } from '../src/imageSizes.ts';
import { revealLine } from '../src/reveal.ts';
import { t } from './l10n.ts';

/** Types that models take. The server looks at the bytes. */
const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

export interface ReadImage {
  name: string;
  mimeType: string;
  data: string;
}

/** Calls `take` with each image in its order, and `refuse` with a sentence for each file that cannot be attached. */
export async function readImages(
  files: readonly File[],
  take: (image: ReadImage) => void,
  refuse: (message: string) => void,
): Promise<void> {
  for (const file of files) {
    const name = revealLine(file.name || t('image'));
    if (!TYPES.includes(file.type)) refuse(t('Not attached: {0} is not a PNG, JPEG, GIF or WebP image.', name));
    else if (file.size > (MOST_IMAGE * 3) / 4)
      refuse(t('Not attached: {0} has more than {1} MB.', name, megabytes(MOST_IMAGE)));
    else {
      const data = await base64Of(file);
      if (data) take({ name: file.name || t('image'), mimeType: file.type, data });
      else refuse(t('Not attached: {0} cannot be read.', name));
    }
  }
}

/** Undefined where it cannot be read, or is empty. */
function base64Of(file: File): Promise<string | undefined> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.addEventListener('load', () =>
      resolve(typeof reader.result === 'string' ? reader.result.split(',', 2)[1] : undefined),
    );
    reader.addEventListener('error', () => resolve(undefined));
    reader.readAsDataURL(file);
  });
}
