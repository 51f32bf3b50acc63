import type { AssetDescription } from '../../../src/areas/assets/domain/asset/events.js';
import { projectId, storageId } from './ids.js';

export const assetFacts: Omit<AssetDescription, 'project_id' | 'storage_id'> = {
  name: 'Rhine at dawn',
  object_key: '2026/rhine.mp4',
  media_type: 'video/mp4',
  size: 1_048_576,
  renditions: [
    {
      kind: 'thumbnail',
      object_key: '2026/rhine.jpg',
      media_type: 'image/jpeg',
      size: 20_480,
      language: null,
    },
  ],
  tags: ['rivers'],
};

export const assetDescription: AssetDescription = {
  project_id: projectId,
  storage_id: storageId,
  ...assetFacts,
};
