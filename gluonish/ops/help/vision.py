"""Arguments of operators for images and boxes.

A line of operators, then descriptions of their arguments; indented lines continue the one above.
"""

TEXTS = """
BilinearSampler
  data: Images (N, C, H, W)
SpatialTransformer
  data: Images (N, C, H, W)
  sampler_type: Kind of interpolation
  transform_type: Kind of transformation
GridGenerator
  data: (N, 6) for 'affine'; offsets in pixels, (N, 2, H, W), for 'warp'
  transform_type: What data contains: affine matrices, or offsets of each pixel
ROIPooling _contrib_ROIAlign _contrib_RROIAlign _contrib_PSROIPooling
  data: Feature maps (N, C, H, W)
Crop
  h_w: Height and width of the result, unless a second array defines them
  offset: Row and column at which to crop
Correlation
  kernel_size: Height and width of the patches that are compared, odd
  stride1: Step between patches of the first images
  stride2: Step between displacements
  is_multiply: Whether to multiply patches; else their absolute difference is taken
depth_to_space space_to_depth
  data: Images (N, C, H, W)
_contrib_box_iou
  lhs: Boxes (..., 4)
  rhs: Boxes (..., 4)
_contrib_box_nms
  data: Boxes (..., boxes, columns), one per row with score, coordinates and optionally class
  valid_thresh: Minimum score of a box; others are ignored
  topk: Number of best boxes that enter suppression; below 1 for all
_contrib_MultiBoxPrior
  data: Feature map (N, C, H, W), of which height and width are used
  sizes: Sizes of the boxes, as fractions of the image
  ratios: Aspect ratios, width / height
  clip: Whether to clip boxes to the image
  steps: Distance between boxes along y and x, as fractions of the image; negative for 1 / size
  offsets: Center of a box in its cell, y and x
_contrib_MultiBoxDetection
  cls_prob: Predicted probabilities (N, classes, anchors)
  clip: Whether to clip boxes to the image
  threshold: Minimum probability of a box; others are dropped
  nms_threshold: IoU above which a box is suppressed by a better one
  nms_topk: Number of boxes that enter suppression; below 1 for all
_contrib_MultiBoxTarget
  label: True boxes (N, objects, 5): class, left, top, right, bottom; class -1 for none
  cls_pred: Predicted scores (N, classes, anchors)
  overlap_threshold: Minimum IoU at which an anchor is matched to an object
  negative_mining_ratio: Number of negative anchors for each positive one; negative for all
  negative_mining_thresh: Anchors of lower IoU may be negative
  minimum_negative_samples: Minimum number of negative anchors
_contrib_AdaptiveAvgPooling2D
  data: Images (N, C, H, W)
  output_size: Height and width of the result
_contrib_BilinearResize2D
  data: Images (N, C, H, W)
  scale_height: Factor of the height
  scale_width: Factor of the width
  mode: How the size is determined, by name
im2col col2im
  data: Images (N, C, ...), or columns
  output_size: Height and width of the images
_image_crop
  x: Left edge of the crop
  y: Top edge of the crop
  data: Image (H, W, C) or images (N, H, W, C)
_image_to_tensor
  data: Image (H, W, C) or images (N, H, W, C)
_image_normalize
  data: Image (C, H, W) or images (N, C, H, W)
  mean: Mean to subtract, for each channel or for all
  std: Standard deviation to divide by, for each channel or for all
_image_resize
  data: Image (H, W, C) or images (N, H, W, C)
  size: Width and height, or one number for both
  keep_ratio: With one number, whether it is the length of the shorter side
_image_random_color_jitter
  brightness: Maximum change of the brightness, as a fraction
  contrast: Maximum change of the contrast, as a fraction
  saturation: Maximum change of the saturation, as a fraction
  hue: Maximum change of the hue, as a fraction
_image_adjust_lighting
  alpha: Factors of the three principal colors
_image_random_lighting
  alpha_std: Standard deviation of the factors of the three principal colors
_cvimread
  filename: Path of the image file
_cvimdecode _cvimread
  flag: 1 to decode in color, 0 in gray
  to_rgb: Whether channels are red, green, blue; else blue, green, red
_cvimresize
  w: New width in pixels
  h: New height in pixels
_cvcopyMakeBorder
  top: Rows added at the top
  bot: Rows added at the bottom
  left: Columns added on the left
  right: Columns added on the right
  type: Content of the border, by OpenCV's number; 0 for a constant
  value: Value of the border, for all channels
  values: Value of the border, for each channel
_contrib_bipartite_matching
  data: Scores (..., rows, columns)
  threshold: Minimum score of a matched pair
  topk: Maximum number of pairs; below 1 for all
  is_ascend: Whether the lowest scores are the best
_contrib_box_decode
  data: Predicted offsets of the anchors, (B, N, 4)
  clip: Upper bound of the predicted logarithms of sizes; 0 or below for none
  std0: Factor of the first number of each box
  std1: Factor of the second number of each box
  std2: Factor of the third number of each box
  std3: Factor of the fourth number of each box
_contrib_box_encode
  samples: Selects the anchors with values above 0.5, (B, N)
  matches: Index of the true box of each anchor, (B, N)
  refs: True boxes (B, M, 4), as corners
  means: Means subtracted from the targets, (4,)
  stds: Standard deviations the targets are divided by, (4,)
_contrib_Proposal _contrib_MultiProposal
  threshold: IoU above which a box is suppressed by a better one
  output_score: Whether to return the scores, too
  iou_loss: Whether bbox_pred moves the corners instead of center and size
  ratios: Aspect ratios of the anchors, height / width
_contrib_MultiBoxTarget
  ignore_label: Label of anchors that are ignored
_contrib_DeformablePSROIPooling
  data: Score maps (N, output_dim * group_size squared, H, W)
  trans: Offset of each part of a region, (regions, 2 * classes, part_size, part_size)
  part_size: Rows and columns of the grid of parts; 0 for pooled_size
  sample_per_part: Number of sampling points along each axis of a part
  trans_std: Factor of the offsets
  no_trans: Whether trans is not given
"""
